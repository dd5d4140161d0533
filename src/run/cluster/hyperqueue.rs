//! A job → a script that runs its shards with HyperQueue.

use super::{Job, shell};

/// The script. `hq` says nothing about the results: what counts is in the result folder, which the last line looks at.
pub fn text(job: &Job) -> String {
    let cores = if job.exclusive { "all".to_owned() } else { job.cores().to_string() };
    let time = job.time.as_ref().map_or(String::new(), |limit| format!(" --time-limit={}s", limit.seconds));
    // hq takes no long names.
    let name: String = job.name.chars().take(40).collect();
    format!(
        "#!/bin/bash\n\
         # A shard per task of a HyperQueue array. Needs a server and workers: `hq server start`, and on each node\n\
         # `hq worker start`, or `hq alloc add slurm …`. Further arguments go to `hq submit`. Start it again for what is missing.\n\
         cd {} || exit 1\n\
         command -v hq >/dev/null || {{ echo 'hq is not in $PATH: https://it4innovations.github.io/hyperqueue' >&2; exit 1; }}\n\
         run=({})\n\
         logs={}\n\
         mkdir -p \"$logs\" || exit 1\n\
         hq submit --wait --name {} --array 1-{} --cpus={cores}{time} \\\n    \
             --stdout=\"$logs/%{{TASK_ID}}.out\" --stderr=\"$logs/%{{TASK_ID}}.err\" \"$@\" \\\n    \
             -- bash -c 'exec \"$@\" --shard \"$HQ_TASK_ID/{}\"' shard \"${{run[@]}}\"\n\
         # Whatever hq returned: every run of the id file is there, or this fails and names what is missing.\n\
         {}\n",
        shell::quoted(&job.folder),
        shell::words(&job.run()),
        shell::quoted(&format!("{}/hq", job.out)),
        shell::quoted(&name),
        job.shards,
        job.shards,
        shell::words(&job.merge()),
    )
}
