//! The table of shaders: every WGSL file of the folder `shaders`, compiled into the program.

use crate::{
    GpuError,
    check::check,
    naga::{AddressSpace, Module, ShaderStage, TypeInner, valid::ModuleInfo},
    source::Source,
};

/// Path below `shaders` and text of every shader.
pub const SHADERS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/shaders.rs"));

/// A shader, put together and understood.
#[derive(Debug)]
pub struct Shader {
    /// Path below `shaders`.
    pub path: &'static str,
    /// Complete WGSL text.
    pub text: String,
    module: Module,
    info: ModuleInfo,
}

/// A variable of an entry point that is bound to a buffer or an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name in the shader.
    pub name: String,
    /// Its binding in group 0.
    pub binding: u32,
}

/// Size, and name and offset of every member of a structure in a shader [bytes].
pub type StructLayout = (usize, Vec<(String, usize)>);

impl Shader {
    /// The shader at a path below `shaders`.
    ///
    /// # Errors
    /// When there is none, or when it is wrong; then the message names file and line.
    pub fn load(path: &str) -> Result<Self, GpuError> {
        Self::resized(path, None)
    }

    /// The same with other workgroups where the shader leaves their size free.
    pub(crate) fn resized(path: &str, threads: Option<u32>) -> Result<Self, GpuError> {
        let find = |path: &str| SHADERS.iter().find(|(name, _)| *name == path);
        let read = |path: &str| find(path).map(|(_, text)| *text);
        let mut source = Source::assemble(path, &read).map_err(GpuError::Shader)?;
        if let Some(threads) = threads {
            let other = format!("const THREADS: u32 = {threads}u;");
            source.text = source.text.replace("const THREADS: u32 = 64u;", &other);
        }
        let (module, info) = check(&source).map_err(GpuError::Shader)?;
        let path = find(path).map_or("", |(name, _)| name);
        Ok(Self { path, text: source.text, module, info })
    }

    /// Threads per workgroup of an entry point and the variables it uses.
    ///
    /// # Errors
    /// When there is no such entry point.
    pub fn entry(&self, name: &str) -> Result<(u32, Vec<Variable>), GpuError> {
        let found = self.module.entry_points.iter().position(|entry| entry.name == name);
        let Some(index) = found else {
            let message = format!("shaders/{}: there is no entry point `{name}`", self.path);
            return Err(GpuError::Shader(message));
        };
        let [x, y, z] = self.module.entry_points[index].workgroup_size;
        Ok((x * y * z, self.variables(&[index])))
    }

    /// The entry points for vertices and, where there is one, for fragments, and the variables they use.
    ///
    /// # Errors
    /// When the file draws nothing.
    pub(crate) fn stages(&self) -> Result<(&str, Option<&str>, Vec<Variable>), GpuError> {
        let find = |stage| self.module.entry_points.iter().position(|entry| entry.stage == stage);
        let Some(vertex) = find(ShaderStage::Vertex) else {
            return Err(GpuError::Shader(format!("shaders/{} draws nothing", self.path)));
        };
        let fragment = find(ShaderStage::Fragment);
        let entries: Vec<usize> = [vertex].into_iter().chain(fragment).collect();
        let name = |index: usize| self.module.entry_points[index].name.as_str();
        Ok((name(vertex), fragment.map(name), self.variables(&entries)))
    }

    /// The variables that any of these entry points uses.
    fn variables(&self, entries: &[usize]) -> Vec<Variable> {
        let variables = self.module.global_variables.iter().filter_map(|(handle, variable)| {
            let bound = matches!(
                variable.space,
                AddressSpace::Uniform | AddressSpace::Storage { .. } | AddressSpace::Handle
            );
            let uses = |entry: &usize| !self.info.get_entry_point(*entry)[handle].is_empty();
            let used = bound && entries.iter().any(uses);
            let binding = variable.binding.as_ref().filter(|_| used)?.binding;
            Some(Variable { name: variable.name.clone().unwrap_or_default(), binding })
        });
        variables.collect()
    }

    /// The layout of a structure, if there is one of that name.
    pub fn layout(&self, name: &str) -> Option<StructLayout> {
        let (_, found) = self.module.types.iter().find(|(_, t)| t.name.as_deref() == Some(name))?;
        let TypeInner::Struct { members, span } = &found.inner else { return None };
        let offset =
            |m: &crate::naga::StructMember| (m.name.clone().unwrap_or_default(), m.offset as usize);
        Some((*span as usize, members.iter().map(offset).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shader_is_valid() {
        assert!(SHADERS.len() > 3);
        for (path, _) in SHADERS {
            if let Err(error) = Shader::load(path) {
                panic!("{error}");
            }
        }
    }

    fn wrong(files: &[(&str, &'static str)]) -> String {
        let read = |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| *text);
        match Source::assemble(files[0].0, &read) {
            Ok(source) => check(&source).expect_err("it is wrong"),
            Err(message) => message,
        }
    }

    #[test]
    fn a_file_may_call_what_its_user_defines() {
        let part =
            ("part.wgsl", "//#alone fn f() -> u32 { return 1u; }\nfn g() -> u32 { return f(); }\n");
        let user = ("user.wgsl", "//#use part.wgsl\nfn f() -> u32 { return 2u; }\n");
        let files = [part, user];
        let read = |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| *text);
        for (path, value) in [("part.wgsl", "1u"), ("user.wgsl", "2u")] {
            let source = Source::assemble(path, &read).unwrap();
            assert!(check(&source).is_ok(), "{path}");
            // A comment where it does not hold.
            let code = |line: &&str| line.starts_with("fn f()") && line.contains(value);
            assert_eq!(source.text.lines().filter(code).count(), 1, "{path}");
        }
    }

    #[test]
    fn stages_of_a_file_that_draws_must_fit() {
        let vertex = "struct V { @builtin(position) p: vec4<f32>, @location(0) a: f32 }\n\
                      @vertex fn v() -> V { return V(vec4<f32>(), 0.0); }\n";
        let fragment = |input: &str| {
            let fragment = format!(
                "@fragment fn f({input}) -> @location(0) vec4<f32> {{ return vec4<f32>(); }}"
            );
            // Tables of shaders are static; a test may leak a line.
            let text: &'static str = format!("{vertex}{fragment}\n").leak();
            [("draw.wgsl", text)]
        };
        let read_one = |files: &[(&str, &'static str)]| {
            let text = files[0].1;
            check(&Source::assemble("draw.wgsl", &|_| Some(text)).unwrap())
        };
        assert!(read_one(&fragment("@location(0) a: f32")).is_ok());
        assert!(read_one(&fragment("v: V")).is_ok());
        let message = wrong(&fragment("@location(1) a: f32"));
        assert_eq!(message, "shaders/draw.wgsl:1: `f` takes location 1, which `v` does not give");
        let message = wrong(&fragment("@location(0) a: vec2<f32>"));
        assert!(
            message.ends_with("`f` takes location 0 as another type than `v` gives"),
            "{message}"
        );
        let message = wrong(&[("draw.wgsl", "@fragment fn f() {}\n")]);
        assert!(message.ends_with("`f` takes fragments of no vertices"), "{message}");
    }

    #[test]
    fn mistakes_are_named_with_file_and_line() {
        let library = (
            "lib.wgsl",
            "fn one() -> f32 {\n    return 1.0;\n}\n\nfn bad() -> f32 {\n    return x;\n}\n",
        );
        let message = wrong(&[("a/main.wgsl", "// First.\n//#use lib.wgsl\n"), library]);
        assert!(message.starts_with("shaders/lib.wgsl:6: "), "{message}");
        let good = ("lib.wgsl", "fn one() -> f32 {\n    return 1.0;\n}\n");
        let main =
            "//#use lib.wgsl\n//#use lib.wgsl\n\nfn two() -> f32 {\n    return one() + 1u;\n}\n";
        let message = wrong(&[("a/main.wgsl", main), good]);
        assert!(message.starts_with("shaders/a/main.wgsl:5: "), "{message}");
        let message = wrong(&[("a/main.wgsl", "\n//#use gone.wgsl\n")]);
        assert_eq!(message, "shaders/a/main.wgsl:2: there is no shader `gone.wgsl` to use");
    }
}
