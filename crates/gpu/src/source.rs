//! Shader files put together: a line `//#use PATH` stands for that file, which is taken in once. A line
//! `//#alone CODE` stands for code that holds only where nothing uses the file: in place of a function that
//! whoever uses it defines, so that every file is a valid shader by itself.
//!
//! Plain concatenation keeps names as they are written; the map of lines leads errors back to where
//! they were made. The build script uses this module too.

/// A shader with everything it uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    /// WGSL text.
    pub(crate) text: String,
    /// File of each line, as an index into `files`, and its number there.
    lines: Vec<(usize, usize)>,
    files: Vec<String>,
}

impl Source {
    /// Puts the file at `path` and all that it uses together; `read` gives the text of a file.
    pub(crate) fn assemble<'a>(
        path: &str,
        read: &dyn Fn(&str) -> Option<&'a str>,
    ) -> Result<Self, String> {
        let mut source = Self::default();
        let text = read(path).ok_or_else(|| format!("there is no shader `{path}`"))?;
        source.take_in(path, text, read)?;
        Ok(source)
    }

    fn take_in<'a>(
        &mut self,
        path: &str,
        text: &str,
        read: &dyn Fn(&str) -> Option<&'a str>,
    ) -> Result<(), String> {
        let file = self.files.len();
        self.files.push(path.to_owned());
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.strip_prefix("//#alone ").filter(|_| file == 0).unwrap_or(line);
            let Some(used) = line.trim().strip_prefix("//#use ").map(str::trim) else {
                self.text.push_str(line);
                self.text.push('\n');
                self.lines.push((file, number));
                continue;
            };
            if self.files.iter().any(|known| known == used) {
                continue;
            }
            let text = read(used).ok_or_else(|| {
                format!("shaders/{path}:{number}: there is no shader `{used}` to use")
            })?;
            self.take_in(used, text, read)?;
        }
        Ok(())
    }

    /// `shaders/FILE:LINE` of a line of the whole, both counted from 1.
    pub(crate) fn place(&self, line: usize) -> String {
        let last = self.lines.len().max(1) - 1;
        match self.lines.get(line.max(1) - 1).or(self.lines.get(last)) {
            Some(&(file, number)) => format!("shaders/{}:{number}", self.files[file]),
            None => "an empty shader".to_owned(),
        }
    }
}
