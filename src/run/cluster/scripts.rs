//! A [`ClusterJob`] as a script of each engine. Every script ends with `cluster merge --ids`: the exit code does not depend on the
//! engine, but on whether every run is in the folder.

use std::path::Path;

use super::{ClusterJob, SLURM_FOLDER, id_file, slurm_time};

/// Templates for [`ClusterJob::script`]: `§name§` stands for a value of the job.
pub const SLURM_ARRAY: &str = include_str!("scripts/slurm_array.sh");
pub const SLURM_GATHER: &str = include_str!("scripts/slurm_gather.sh");
pub const HYPERQUEUE: &str = include_str!("scripts/hyperqueue.sh");
/// Each line that `parallel` gets is a whole command, so that it looks for no replacement strings in paths.
pub const PARALLEL: &str = include_str!("scripts/parallel.sh");

impl ClusterJob {
    /// A template with the values of this job. One pass, so that nothing in a value is taken for a name.
    pub fn script(&self, template: &str) -> String {
        let parts = template.split('§').enumerate();
        parts.map(|(k, part)| if k % 2 == 0 { part.to_owned() } else { self.value(part) }).collect()
    }

    fn value(&self, name: &str) -> String {
        let Self { time, exclusive, at_once, out, .. } = self;
        match name {
            "folder" => quoted(&self.folder),
            "out" => quoted(out),
            "shards" => self.shards.to_string(),
            "run" => self.run(),
            "merge" => self.merge(),
            "figures" | "report" => self.call(&[name, out]),
            "sbatch name" => sbatch_word(&self.name),
            "gather name" => sbatch_word(&format!("{}-gather", self.name)),
            "sbatch at once" => at_once.map_or(String::new(), |count| format!("%{count}")),
            "sbatch cores" => self.node_share(),
            "sbatch options" => self.sbatch_options(),
            "lead" => self.lead_s().to_string(),
            "array log" => self.slurm_log("%A_%a"),
            "gather log" => self.slurm_log("gather-%j"),
            "hq logs" => quoted(&format!("{out}/hq")),
            // hq takes no long names.
            "hq name" => quoted(&self.name.chars().take(40).collect::<String>()),
            "hq cores" if *exclusive => "all".to_owned(),
            "hq cores" => self.cores().to_string(),
            "hq time" => time.as_ref().map_or(String::new(), |limit| format!(" --time-limit={limit}s")),
            "parallel jobs" => at_once.unwrap_or(1).to_string(),
            "parallel log" => quoted(&format!("{out}/parallel.log")),
            // At the limit less the lead a job is asked to start no other run; it has the lead to finish those that it runs.
            "parallel time" => time.as_ref().map_or(String::new(), |limit| {
                let lead = self.lead_s();
                format!(" --timeout {} --termseq USR1,{lead}000,TERM,5000,KILL,25", limit - lead as f64)
            }),
            unknown => unreachable!("a template has §{unknown}§"),
        }
    }

    /// A call of this program, as words of a shell.
    fn call(&self, words: &[&str]) -> String {
        let data_dir = self.data_dir.iter().flat_map(|dir| ["--data-dir", dir]);
        let options = data_dir.chain(self.data_flags.iter().map(String::as_str));
        let words = std::iter::once(self.program.as_str()).chain(options).chain(words.iter().copied());
        shlex::try_join(words).unwrap_or_default()
    }

    /// The call that does a shard, up to `--shard`.
    fn run(&self) -> String {
        let (ids, jobs) = (self.ids(), self.jobs.map(|jobs| jobs.to_string()));
        let mut words = vec!["run", &self.config, "--out", &self.out, "--ids", &ids];
        words.extend(jobs.iter().flat_map(|jobs| ["--jobs", jobs]));
        words.extend(self.only.iter().flat_map(|pattern| ["--only", pattern]));
        words.extend(self.isolated.then_some("--isolated"));
        self.call(&words)
    }

    /// The call that joins the shards, and fails when a run of the id file is not done.
    fn merge(&self) -> String {
        self.call(&["cluster", "merge", &self.out, "--out", &self.out, "--ids", &self.ids()])
    }

    fn ids(&self) -> String {
        id_file(Path::new(&self.out)).to_string_lossy().into_owned()
    }

    /// A value of `sbatch --output`, with percent signs of the folder escaped.
    fn slurm_log(&self, name: &str) -> String {
        sbatch_word(&format!("{}/{SLURM_FOLDER}/{name}.log", self.out.replace('%', "%%")))
    }

    /// The option lines that both scripts of SLURM have.
    fn sbatch_options(&self) -> String {
        let mut text = String::new();
        if let Some(partition) = &self.partition {
            text += &format!("#SBATCH --partition={}\n", sbatch_word(partition));
        }
        if let Some(time) = &self.time {
            text += &format!("#SBATCH --time={}\n", slurm_time(*time));
        }
        if !self.more.is_empty() {
            let more: Vec<String> = self.more.iter().map(|word| sbatch_word(word)).collect();
            text += &format!("#SBATCH {}\n", more.join(" "));
        }
        text
    }
}

/// The command that joins the shards of a result folder, for messages.
pub fn merge_command(out: &Path) -> String {
    let (program, out) = ("ssvm-bench".to_owned(), out.to_string_lossy().into_owned());
    ClusterJob { program, out, ..ClusterJob::default() }.merge()
}

/// A word for a POSIX shell. Nothing but a NUL cannot be quoted, and no word of a job has one.
pub fn quoted(word: &str) -> String {
    shlex::try_quote(word).unwrap_or_default().into_owned()
}

/// A word for an option line (`#SBATCH …`), in which sbatch accepts quotes, and a backslash before any character except a blank.
fn sbatch_word(word: &str) -> String {
    if !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-+=/.,:@%^".contains(c)) {
        return word.to_owned();
    }
    format!("\"{}\"", word.replace('\\', r"\\").replace('"', r#"\""#))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words() {
        for (word, line) in [
            ("a/b-1.toml", "a/b-1.toml"),
            ("", r#""""#),
            ("a b", r#""a b""#),
            ("it's", r#""it's""#),
            ("$(x);`y`#\"", r#""$(x);`y`#\"""#),
            (r"a\b", r#""a\\b""#),
            ("größe", r#""größe""#),
        ] {
            assert_eq!(shlex::split(&quoted(word)), Some(vec![word.to_owned()]));
            assert_eq!(sbatch_word(word), line);
        }
        let job = ClusterJob { program: "a".into(), out: "100%/%j".into(), ..ClusterJob::default() };
        assert_eq!(job.call(&["b c"]), "a 'b c'");
        assert_eq!(job.slurm_log("%A"), "100%%/%%j/slurm/%A.log");
    }

    #[test]
    fn a_value_is_not_taken_for_a_name() {
        let job = ClusterJob { folder: "/§run§".into(), ..ClusterJob::default() };
        for template in [SLURM_ARRAY, SLURM_GATHER, HYPERQUEUE, PARALLEL] {
            assert!(job.script(template).contains("cd '/§run§' || exit 1\n"));
        }
    }
}
