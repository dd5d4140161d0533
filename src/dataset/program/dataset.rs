//! `oracle:PROGRAM`: a command line → a problem whose oracle is that program. Its identity is the program's file, the
//! files among its arguments, its handshake, and a version that the user may give.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Launch, ProgramProblem};
use crate::Result;
use crate::dataset::request::split_options;
use crate::dataset::{ArgumentError, Described, Error, Request};
use crate::store::files;

pub(in crate::dataset) const KEYS: [&str; 4] = ["limit", "start", "programs", "version"];

/// A program states n, d and λ only when it runs, and a plan must not run what a config names.
pub(in crate::dataset) fn describe(request: &Request<'_>) -> Result<Described> {
    let asked = Asked::of(request)?;
    asked.identity()?;
    Ok(Described::Pending { work: format!("start the program {}", asked.launch.program), size: None })
}

/// Starts the program of an `oracle:` data set; returns its problem and their identity.
pub fn open(request: &Request<'_>) -> Result<(ProgramProblem, String)> {
    let asked = Asked::of(request)?;
    // The file is read before the program starts: it must be the one that runs.
    let files = asked.identity()?;
    let problem = ProgramProblem::open(asked.launch, request.lambda)?;
    let text = format!("oracle program\n{files}version {}\n{}", asked.version, problem.handshake().lines());
    Ok((problem, files::sha256_hex(text.as_bytes())))
}

/// The program file of an `oracle:` data set, if it exists.
pub fn program_file(argument: &str) -> Option<PathBuf> {
    Asked::read(argument).ok()?.file()
}

struct Asked {
    launch: Launch,
    version: String,
}

impl Asked {
    fn of(request: &Request<'_>) -> Result<Self> {
        request.lambda_for(1)?;
        let asked = Self::read(request.argument());
        let asked = asked.map_err(|wrong| Error::CommandLine { name: request.name.to_owned(), wrong })?;
        if !request.data.programs {
            return Err(super::Error::Refused(asked.launch.program).into());
        }
        Ok(asked)
    }

    fn read(argument: &str) -> Result<Self, ArgumentError> {
        let mut words = shlex::split(argument).ok_or(ArgumentError::OpenQuote)?.into_iter();
        let first = words.next().ok_or(ArgumentError::NoProgram)?;
        let (program, options) = split_options(&first, |key, _| key.bytes().all(|byte| byte.is_ascii_alphabetic()));
        if program.is_empty() {
            return Err(ArgumentError::NoProgram);
        }
        let mut asked = Self { launch: Launch::new(program, words), version: String::new() };
        ArgumentError::check(options, &KEYS)?;
        for (key, value) in options.split(',').filter_map(|option| option.split_once('=')) {
            let seconds = || {
                let number = value.parse::<f64>().ok().filter(|s| (1e-3..=1e6).contains(s));
                let expected = "a number of seconds from 0.001 to 1000000";
                number.map(Duration::from_secs_f64).ok_or_else(|| ArgumentError::value(key, value, expected))
            };
            match key {
                "limit" => asked.launch.limit = seconds()?,
                "start" => asked.launch.start = seconds()?,
                "version" => value.clone_into(&mut asked.version),
                _ => {
                    let count = value.parse().ok().filter(|count| (1..=4096).contains(count));
                    let wrong = || ArgumentError::value(key, value, "a whole number from 1 to 4096");
                    asked.launch.programs = count.ok_or_else(wrong)?;
                }
            }
        }
        Ok(asked)
    }

    /// The program's file: as written, or in one of the folders of `$PATH`.
    fn file(&self) -> Option<PathBuf> {
        let program = Path::new(&self.launch.program);
        if self.launch.program.contains('/') {
            return Some(program.to_owned()).filter(|path| path.is_file());
        }
        let folders = std::env::var_os("PATH")?;
        std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())
    }

    /// A line for each file whose content counts. Of an interpreter that is found by its name and reads a script, the
    /// script is the program.
    fn identity(&self) -> Result<String> {
        let Launch { program, arguments, .. } = &self.launch;
        let file = self.file().ok_or_else(|| {
            let reason = if program.contains('/') { "there is no such file" } else { "it is in no folder of $PATH" };
            super::Error::NotFound { program: program.clone(), reason }
        })?;
        if let Some(script) = self.launch.missing_script() {
            return Err(super::Error::NotFound { program: script.to_owned(), reason: "there is no such file" }.into());
        }
        let scripts: Vec<&Path> = arguments.iter().map(Path::new).filter(|path| path.is_file()).collect();
        let mut text = format!("program {}\n", file.file_name().unwrap_or_default().to_string_lossy());
        if program.contains('/') || scripts.is_empty() {
            text += &format!("{}\n", files::sha256_file(&file)?);
        }
        for script in scripts {
            text += &format!("{}\n", files::sha256_file(script)?);
        }
        let others = arguments.iter().filter(|argument| !Path::new(argument).is_file());
        others.for_each(|argument| text += &format!("argument {argument}\n"));
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_split_as_a_shell_does() {
        let split = |text: &str| Asked::read(text).map(|asked| asked.launch.arguments);
        assert_eq!(split(r#"x a  'b c' d"e f"g h\ i '' "#).unwrap(), ["a", "b c", "de fg", "h i", ""]);
        assert_eq!(split(r#"x 'a\b' "a\"b""#).unwrap(), [r"a\b", r#"a"b"#]);
        assert!(split("a 'b").unwrap_err().to_string().contains("not closed") && split("a\\").is_err());
    }

    #[test]
    fn options_belong_to_the_program_and_not_to_its_arguments() {
        let asked = Asked::read("./a,b/run,limit=0.5,version=v1.2 --grid=3,n=4 'x y',limit=9").unwrap();
        assert_eq!(asked.launch.program, "./a,b/run");
        assert_eq!(asked.launch.arguments, ["--grid=3,n=4", "x y,limit=9"]);
        assert_eq!((asked.launch.limit, asked.version.as_str()), (Duration::from_millis(500), "v1.2"));
        let wrong = |text: &str, expected: &str| {
            let error = Asked::read(text).err().unwrap().to_string();
            assert!(error.contains(expected), "{error}");
        };
        wrong("", "no program");
        wrong(",limit=3", "no program");
        wrong("x,limit=0", "number of seconds");
        wrong("x,limit=nan", "number of seconds");
        wrong("x,programs=0", "whole number");
        wrong("x,limits=3", "did you mean 'limit'?");
        wrong("x,limit=3,limit=4", "given twice");
    }
}
