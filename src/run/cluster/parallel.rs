//! A job → a script that runs its shards with GNU parallel, on this machine or on others that share the folder.

use super::{Job, sbatch, shell};

/// The script. Each line that `parallel` gets is a whole command, so that it looks for no replacement strings in paths.
pub fn text(job: &Job) -> String {
    let at_once = job.at_once.unwrap_or(1);
    // At the limit less the lead a job is told to start no other run; it has the lead to finish those that it runs.
    let time = job.time.as_ref().map_or(String::new(), |limit| {
        let lead = sbatch::lead(job);
        format!(" --timeout {} --termseq USR1,{lead}000,TERM,5000,KILL,25", limit.seconds - lead as f64)
    });
    format!(
        "#!/bin/bash\n\
         # A shard per job of GNU parallel. Further arguments go to `parallel`: `--sshloginfile HOSTS --workdir .` for other\n\
         # machines that have the same folders. Start it again for what is missing.\n\
         cd {} || exit 1\n\
         command -v parallel >/dev/null || {{ echo 'parallel is not in $PATH: install GNU parallel' >&2; exit 1; }}\n\
         run=({})\n\
         mkdir -p {out} || exit 1\n\
         for shard in $(seq 1 {shards}); do\n    \
             printf '%q ' \"${{run[@]}}\" --shard \"$shard/{shards}\"\n    \
             echo\n\
         done | parallel --jobs {at_once} --halt never --joblog {log}{time} \"$@\"\n\
         # Every run of the id file is there, or this fails and names what is missing.\n\
         {}\n",
        shell::quoted(&job.folder),
        shell::words(&job.run()),
        shell::words(&job.merge()),
        out = shell::quoted(&job.out),
        log = shell::quoted(&format!("{}/parallel.log", job.out)),
        shards = job.shards,
    )
}
