//! Where contacts are searched for: a setting of every method, on either device.

use taut_core::BuildError;

/// Where contacts are searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Collision {
    /// On the host, which reads all motion back before each step: the same bits as on the CPU.
    Host,
    /// On the device, in single precision.
    Device,
}

impl Collision {
    /// On the CPU there is only the host.
    ///
    /// # Errors
    /// When the device is asked for.
    pub fn refuse_device(asked: Option<Self>) -> Result<(), BuildError> {
        match asked {
            Some(Self::Device) => {
                Err(BuildError::Settings("collision is host on the CPU".to_owned()))
            }
            Some(Self::Host) | None => Ok(()),
        }
    }
}
