//! The picture of one pane: drawn by the graphics adapter, read back, and shown as a texture of the window.

use std::sync::Arc;

use eframe::egui::{ColorImage, Context, TextureHandle, TextureOptions};
use taut_core::{Scene, State, Vec3};
use taut_draw::{
    bitmap::Bitmap,
    camera::{Camera, Lens},
    device::Painter,
    overlay,
    portrait::{Exposure, Manner, Portrait},
};

use super::{
    picked::Picked,
    sight::{Looks, touches_of},
};
use crate::{film::visible_gap, plot::colour::style_of};

/// What a picture depends on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PictureKey {
    pub(crate) camera: Camera,
    /// Width and height in points, and pixels to each.
    pub(crate) size: (f64, f64),
    pub(crate) scale: f64,
    pub(crate) looks: Looks,
    /// Number of the pane, by which its run is told.
    pub(crate) pane: u32,
    pub(crate) backend: String,
    /// What trails are of.
    pub(crate) picked: Option<Picked>,
    /// What is drawn, by its address.
    pub(crate) state: SharedState,
    pub(crate) ghost: Option<SharedState>,
    pub(crate) failed: Option<String>,
}

/// A state that is equal to itself only.
#[derive(Clone, Debug)]
pub(crate) struct SharedState(pub(crate) Arc<State>);

impl PartialEq for SharedState {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The last picture of a pane.
#[derive(Default)]
pub(crate) struct PanePicture {
    key: Option<PictureKey>,
    pub(crate) texture: Option<TextureHandle>,
    pub(crate) image: Option<ColorImage>,
    /// By pixel, the body that is seen there, counted from 1.
    seen: Vec<u32>,
    pub(crate) fault: Option<String>,
}

impl PanePicture {
    /// Draws the picture unless it is the one that is there.
    pub(crate) fn update(
        &mut self,
        ctx: &Context,
        painter: &mut Painter,
        scene: &Scene,
        trails: &[Vec<Vec3>],
        key: PictureKey,
    ) {
        if self.key.as_ref() == Some(&key) {
            return;
        }
        match draw(painter, scene, trails, &key) {
            Ok((image, seen)) => {
                let name = format!("pane {}", key.pane);
                match &mut self.texture {
                    Some(texture) => texture.set(image.clone(), TextureOptions::LINEAR),
                    None => {
                        let made = ctx.load_texture(name, image.clone(), TextureOptions::LINEAR);
                        self.texture = Some(made);
                    }
                }
                (self.image, self.seen, self.fault) = (Some(image), seen, None);
            }
            Err(fault) => self.fault = Some(fault),
        }
        self.key = Some(key);
    }

    /// The lens of the picture.
    pub(crate) fn lens(&self) -> Option<Lens> {
        let key = self.key.as_ref()?;
        Some(Lens::new(&key.camera, key.size))
    }

    /// The body that is seen at a point of the picture, if any.
    pub(crate) fn body_at(&self, (x, y): (f64, f64)) -> Option<usize> {
        let (image, key) = (self.image.as_ref()?, self.key.as_ref()?);
        let [width, height] = image.size;
        let (column, row) = ((x * key.scale) as usize, (y * key.scale) as usize);
        let inside = x >= 0.0 && y >= 0.0 && column < width && row < height;
        let number = *self.seen.get(row * width + column).filter(|_| inside)?;
        (number as usize).checked_sub(1)
    }
}

fn draw(
    painter: &mut Painter,
    scene: &Scene,
    trails: &[Vec<Vec3>],
    key: &PictureKey,
) -> Result<(ColorImage, Vec<u32>), String> {
    let state = &*key.state.0;
    let manner = Manner {
        tint: key.looks.colour.tint(style_of(&key.backend).light),
        gaps_m: Some(visible_gap(&key.camera)),
        contacts: key.looks.contacts,
    };
    let touches = touches_of(scene, &key.looks, state);
    let exposure = Exposure {
        run: key.pane,
        state,
        ghost: key.ghost.as_ref().map(|ghost| &*ghost.0),
        touches: &touches,
        trails,
        failed: key.failed.as_deref(),
        stale: false,
    };
    let list = Portrait::new(scene).list(key.camera, key.size, &manner, &exposure);
    let painted = painter.paint(&list, key.scale).map_err(|error| error.to_string())?;
    let mut bitmap = painted.bitmap;
    overlay::draw(&mut bitmap, &list.tags, key.scale).map_err(|error| error.to_string())?;
    let [width, height] = bitmap.size().map(|length| length as usize);
    let image = ColorImage::from_rgb([width, height], bitmap.bytes_mut());
    let bodies = scene.bodies.len() as u32;
    let body = |number: u32| match number.checked_sub(1) {
        // Cloth is an instance behind the last body.
        Some(at) => {
            Some(list.instances[at as usize].body).filter(|b| *b < bodies).map_or(0, |b| b + 1)
        }
        None => 0,
    };
    Ok((image, painted.numbers.into_iter().map(body).collect()))
}

/// An image of the window as a PNG file.
///
/// # Errors
/// When the encoder refuses, as it does an image without pixels.
pub fn png(image: &ColorImage) -> anyhow::Result<Vec<u8>> {
    let pixels = image.pixels.iter().map(|pixel| [pixel.r(), pixel.g(), pixel.b()]).collect();
    Ok(Bitmap::of(image.size[0] as u32, pixels).to_png()?)
}
