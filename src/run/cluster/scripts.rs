//! A [`ClusterJob`] as a script of each engine. Every script ends with `merge --ids`: the exit code does not depend on the
//! engine, but on whether every run is in the folder.

use std::path::Path;

use super::{ClusterJob, SLURM_FOLDER, id_file};

impl ClusterJob {
    fn call(&self, words: &[&str]) -> Vec<String> {
        let mut all = vec![self.program.clone()];
        if let Some(dir) = &self.data_dir {
            all.extend(["--data-dir".to_owned(), dir.clone()]);
        }
        all.extend(words.iter().map(|word| (*word).to_owned()));
        all
    }

    fn ids(&self) -> String {
        id_file(Path::new(&self.out)).to_string_lossy().into_owned()
    }

    /// The call that does a shard, up to `--shard`.
    fn run(&self) -> String {
        let mut words = self.call(&["run", "--config", &self.config, "--out", &self.out, "--ids", &self.ids()]);
        if let Some(jobs) = self.jobs {
            words.extend(["--jobs".to_owned(), jobs.to_string()]);
        }
        words.extend(self.only.iter().flat_map(|pattern| ["--only".to_owned(), pattern.clone()]));
        words.extend(self.isolated.then(|| "--isolated".to_owned()));
        quoted_words(&words)
    }

    /// The call that joins the shards, and fails when a run of the id file is not done.
    fn merge(&self) -> String {
        quoted_words(&self.call(&["merge", &self.out, "--out", &self.out, "--ids", &self.ids()]))
    }

    /// A value of `sbatch --output` for a log with this name. A percent sign in the folder is no pattern.
    fn log(&self, name: &str) -> String {
        sbatch_word(&format!("{}/{SLURM_FOLDER}/{name}.log", self.out.replace('%', "%%")))
    }

    /// The option lines that both scripts of SLURM have.
    fn sbatch_options(&self) -> String {
        let mut text = String::new();
        if let Some(partition) = &self.partition {
            text += &format!("#SBATCH --partition={}\n", sbatch_word(partition));
        }
        if let Some(time) = &self.time {
            text += &format!("#SBATCH --time={}\n", sbatch_word(&time.text));
        }
        if !self.more.is_empty() {
            let more: Vec<String> = self.more.iter().map(|word| sbatch_word(word)).collect();
            text += &format!("#SBATCH {}\n", more.join(" "));
        }
        text
    }
}

/// The batch script of a SLURM array.
pub fn slurm_array(job: &ClusterJob) -> String {
    let place =
        if job.exclusive { "--exclusive --mem=0".to_owned() } else { format!("--cpus-per-task={}", job.cores()) };
    format!(
        "#!/bin/bash\n\
         # A shard per task: shard I is the I-th line of the id file after its header. The argument is added to the index\n\
         # of the array, for clusters whose MaxArraySize is below the number of shards.\n\
         #SBATCH --job-name={name}\n\
         #SBATCH --array=1-{shards}{at_once}\n\
         #SBATCH --nodes=1 --ntasks=1\n\
         #SBATCH {place}\n\
         {options}\
         #SBATCH --requeue --open-mode=append\n\
         #SBATCH --signal=B:USR1@{lead}\n\
         #SBATCH --output={log}\n\n\
         cd {folder} || exit 1\n\
         shard=$((${{1:-0}} + SLURM_ARRAY_TASK_ID))\n\
         # exec: the signal before the time limit goes to the program, which finishes its runs and starts no other.\n\
         exec {run} --shard \"$shard/{shards}\"\n",
        name = sbatch_word(&job.name),
        shards = job.shards,
        at_once = job.at_once.map_or(String::new(), |count| format!("%{count}")),
        options = job.sbatch_options(),
        lead = job.lead_s(),
        log = job.log("%A_%a"),
        folder = quoted(&job.folder),
        run = job.run(),
    )
}

/// The SLURM script that joins the shards and makes the pages of them. It runs whether or not a task failed.
pub fn slurm_gather(job: &ClusterJob) -> String {
    format!(
        "#!/bin/bash\n\
         # After the array, however its tasks ended: joins what there is and makes figures and report of it. Fails when a\n\
         # run is missing.\n\
         #SBATCH --job-name={name}\n\
         #SBATCH --nodes=1 --ntasks=1\n\
         {options}\
         #SBATCH --output={log}\n\n\
         cd {folder} || exit 1\n\
         code=0\n\
         {merge} || code=1\n\
         {figures} || code=1\n\
         {report} || code=1\n\
         exit $code\n",
        name = sbatch_word(&format!("{}-gather", job.name)),
        options = job.sbatch_options(),
        log = job.log("gather-%j"),
        folder = quoted(&job.folder),
        merge = job.merge(),
        figures = quoted_words(&job.call(&["figures", &job.out])),
        report = quoted_words(&job.call(&["report", &job.out])),
    )
}

/// The script for HyperQueue.
pub fn hyperqueue(job: &ClusterJob) -> String {
    format!(
        "#!/bin/bash\n\
         # A shard per task of a HyperQueue array. Needs a server and workers: `hq server start`, and on each node\n\
         # `hq worker start`, or `hq alloc add slurm …`. Further arguments go to `hq submit`. Start it again for what is missing.\n\
         cd {folder} || exit 1\n\
         command -v hq >/dev/null || {{ echo 'hq is not in $PATH: https://it4innovations.github.io/hyperqueue' >&2; exit 1; }}\n\
         run=({run})\n\
         logs={logs}\n\
         mkdir -p \"$logs\" || exit 1\n\
         hq submit --wait --name {name} --array 1-{shards} --cpus={cores}{time} \\\n    \
             --stdout=\"$logs/%{{TASK_ID}}.out\" --stderr=\"$logs/%{{TASK_ID}}.err\" \"$@\" \\\n    \
             -- bash -c 'exec \"$@\" --shard \"$HQ_TASK_ID/{shards}\"' shard \"${{run[@]}}\"\n\
         # Whatever hq returned: every run of the id file is there, or this fails and names what is missing.\n\
         {merge}\n",
        folder = quoted(&job.folder),
        run = job.run(),
        logs = quoted(&format!("{}/hq", job.out)),
        // hq takes no long names.
        name = quoted(&job.name.chars().take(40).collect::<String>()),
        shards = job.shards,
        cores = if job.exclusive { "all".to_owned() } else { job.cores().to_string() },
        time = job.time.as_ref().map_or(String::new(), |limit| format!(" --time-limit={}s", limit.seconds)),
        merge = job.merge(),
    )
}

/// The script for GNU parallel. Each line that `parallel` gets is a whole command, so that it looks for no replacement
/// strings in paths.
pub fn parallel(job: &ClusterJob) -> String {
    // At the limit less the lead a job is asked to start no other run; it has the lead to finish those that it runs.
    let time = job.time.as_ref().map_or(String::new(), |limit| {
        let lead = job.lead_s();
        format!(" --timeout {} --termseq USR1,{lead}000,TERM,5000,KILL,25", limit.seconds - lead as f64)
    });
    format!(
        "#!/bin/bash\n\
         # A shard per job of GNU parallel. Further arguments go to `parallel`: `--sshloginfile HOSTS --workdir .` for other\n\
         # machines that have the same folders. Start it again for what is missing.\n\
         cd {folder} || exit 1\n\
         command -v parallel >/dev/null || {{ echo 'parallel is not in $PATH: install GNU parallel' >&2; exit 1; }}\n\
         run=({run})\n\
         mkdir -p {out} || exit 1\n\
         for shard in $(seq 1 {shards}); do\n    \
             printf '%q ' \"${{run[@]}}\" --shard \"$shard/{shards}\"\n    \
             echo\n\
         done | parallel --jobs {at_once} --halt never --joblog {log}{time} \"$@\"\n\
         # Every run of the id file is there, or this fails and names what is missing.\n\
         {merge}\n",
        folder = quoted(&job.folder),
        run = job.run(),
        out = quoted(&job.out),
        shards = job.shards,
        at_once = job.at_once.unwrap_or(1),
        log = quoted(&format!("{}/parallel.log", job.out)),
        merge = job.merge(),
    )
}

/// The command that joins the shards of a result folder, for messages.
pub fn merge_command(out: &Path) -> String {
    let job = ClusterJob {
        program: "ssvm-bench".to_owned(),
        out: out.to_string_lossy().into_owned(),
        ..ClusterJob::default()
    };
    job.merge()
}

/// A word for a POSIX shell. Nothing but a NUL cannot be quoted, and no word of a job has one.
pub fn quoted(word: &str) -> String {
    shlex::try_quote(word).unwrap_or_default().into_owned()
}

fn quoted_words(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}

/// A word for an option line (`#SBATCH …`). Its reader knows quotes, and a backslash before any character but a blank.
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
        assert_eq!(quoted_words(&["a".into(), "b c".into()]), "a 'b c'");
        let job = ClusterJob { out: "100%/%j".into(), ..ClusterJob::default() };
        assert_eq!(job.log("%A"), "100%%/%%j/slurm/%A.log");
    }
}
