//! A job → the batch scripts of a SLURM array and of the job that gathers its results; shards → calls of `sbatch`.

use super::{Job, ranges, shell};
use crate::error::{Error, Result};

/// Folder of scripts, logs and job ids below the result folder.
pub const FOLDER: &str = "slurm";
/// Longest lead of `--signal`.
const LONGEST_LEAD: f64 = 65535.0;
/// SLURM sends a signal up to a minute early, so that less than this is a matter of luck.
const SHORTEST_LEAD: f64 = 60.0;
/// Longest list of indices of one array: the system passes no longer word to a program than 128 KiB.
const LONGEST_LIST: usize = 60_000;

/// Seconds before the time limit at which no new run is started: time for the longest to end. At most half the limit,
/// since a task that is signalled when it begins does nothing.
pub fn lead(job: &Job) -> u64 {
    let lead = (1.5 * job.longest + 30.0).clamp(SHORTEST_LEAD, LONGEST_LEAD);
    let half = job.time.as_ref().map_or(LONGEST_LEAD, |limit| limit.seconds / 2.0);
    lead.min(half).ceil() as u64
}

/// An error when SLURM cannot write logs below this result folder.
pub fn check_folder(out: &str) -> Result<()> {
    if out.contains('\\') {
        return Err(Error::file(out, "sbatch takes no output path with a backslash; choose another --out"));
    }
    Ok(())
}

/// The log of an array's task.
pub fn log(out: &std::path::Path, job: u64, index: usize) -> std::path::PathBuf {
    out.join(FOLDER).join(format!("{job}_{index}.log"))
}

/// The script of the array.
pub fn text(job: &Job) -> String {
    let at_once = job.at_once.map_or(String::new(), |count| format!("%{count}"));
    let mut text = format!(
        "#!/bin/bash\n\
         # A shard per task: shard I is the I-th line of the id file after its header. The argument is added to the index\n\
         # of the array, for clusters whose MaxArraySize is below the number of shards.\n\
         #SBATCH --job-name={}\n\
         #SBATCH --array=1-{}{at_once}\n\
         #SBATCH --nodes=1 --ntasks=1\n",
        shell::option(&job.name),
        job.shards,
    );
    text += &if job.exclusive {
        "#SBATCH --exclusive --mem=0\n".to_owned()
    } else {
        format!("#SBATCH --cpus-per-task={}\n", job.cores())
    };
    text += &common(job);
    text += &format!(
        "#SBATCH --requeue --open-mode=append\n\
         #SBATCH --signal=B:USR1@{}\n\
         #SBATCH --output={}\n\n\
         cd {} || exit 1\n\
         shard=$((${{1:-0}} + SLURM_ARRAY_TASK_ID))\n\
         # exec: the signal before the time limit goes to the program, which finishes its runs and starts no other.\n\
         exec {} --shard \"$shard/{}\"\n",
        lead(job),
        output(job, "%A_%a"),
        shell::quoted(&job.folder),
        shell::words(&job.run()),
        job.shards,
    );
    text
}

/// The script that joins the shards and makes the pages of them. It runs whether or not a task failed.
pub fn gather(job: &Job) -> String {
    let page = |command: &str| shell::words(&job.call(&[command, &job.out]));
    format!(
        "#!/bin/bash\n\
         # After the array, however its tasks ended: joins what there is and makes figures and report of it. Fails when a\n\
         # run is missing.\n\
         #SBATCH --job-name={}\n\
         #SBATCH --nodes=1 --ntasks=1\n\
         {}\
         #SBATCH --output={}\n\n\
         cd {} || exit 1\n\
         code=0\n\
         {} || code=1\n\
         {} || code=1\n\
         {} || code=1\n\
         exit $code\n",
        shell::option(&format!("{}-gather", job.name)),
        common(job),
        output(job, "gather-%j"),
        shell::quoted(&job.folder),
        shell::words(&job.merge()),
        page("figures"),
        page("report"),
    )
}

/// The value of `--output` for a log with this name.
fn output(job: &Job, name: &str) -> String {
    shell::option(&format!("{}/{FOLDER}/{name}.log", shell::in_pattern(&job.out)))
}

/// The option lines that both scripts have.
fn common(job: &Job) -> String {
    let mut text = String::new();
    if let Some(partition) = &job.partition {
        text += &format!("#SBATCH --partition={}\n", shell::option(partition));
    }
    if let Some(time) = &job.time {
        text += &format!("#SBATCH --time={}\n", shell::option(&time.text));
    }
    if !job.more.is_empty() {
        let more: Vec<String> = job.more.iter().map(|word| shell::option(word)).collect();
        text += &format!("#SBATCH {}\n", more.join(" "));
    }
    text
}

/// One call of `sbatch` for some of the shards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Shard of an index minus the index.
    pub offset: usize,
    /// Its indices, rising, from 1.
    pub indices: Vec<usize>,
}

impl Array {
    /// Indices as `--array` takes them.
    pub fn list(&self, at_once: Option<usize>) -> String {
        let at_once = at_once.map_or(String::new(), |count| format!("%{count}"));
        ranges::text(&self.indices) + &at_once
    }
}

/// Shards (rising, from 1) as arrays whose indices are below `max_array_size`. An index is its shard where it can be.
pub fn arrays(shards: &[usize], max_array_size: usize) -> Result<Vec<Array>> {
    // Index 0 is not used.
    let most = max_array_size.saturating_sub(1);
    if most == 0 {
        return Err(Error::invalid(format!(
            "MaxArraySize = {max_array_size}: this cluster has no job arrays; `plan --emit hq` and `--emit parallel` need none"
        )));
    }
    let mut arrays: Vec<Array> = Vec::new();
    let mut length = 0;
    for &shard in shards {
        let offset = (shard - 1) / most * most;
        let digits = (shard - offset).to_string().len() + 1;
        let fits = |array: &&mut Array| array.offset == offset && length + digits <= LONGEST_LIST;
        if let Some(array) = arrays.last_mut().filter(fits) {
            array.indices.push(shard - offset);
        } else {
            length = 0;
            arrays.push(Array { offset, indices: vec![shard - offset] });
        }
        // As if no two of them made a range.
        length += digits;
    }
    Ok(arrays)
}

/// The job id that `sbatch --parsable` prints: `123`, or `123;cluster`.
pub fn job_id(printed: &str) -> Result<u64> {
    // Words of a site's own filters may stand before it.
    let last = printed.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    last.split(';').next().and_then(|id| id.parse().ok()).ok_or_else(|| {
        Error::invalid(format!("sbatch printed no job id but '{last}'; `squeue --me` shows whether it was submitted"))
    })
}

/// MaxArraySize in what `scontrol show config` prints.
pub fn max_array_size(config: &str) -> Option<usize> {
    let value =
        |line: &str| Some(line.trim().strip_prefix("MaxArraySize")?.trim_start().strip_prefix('=')?.trim().to_owned());
    config.lines().find_map(value)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_stay_below_the_largest() {
        let all: Vec<usize> = (1..=25).collect();
        let lists = |shards: &[usize], size| -> Vec<(usize, String)> {
            arrays(shards, size).unwrap().iter().map(|array| (array.offset, array.list(Some(4)))).collect()
        };
        assert_eq!(lists(&all, 1001), [(0, "1-25%4".to_owned())]);
        assert_eq!(lists(&all, 26), [(0, "1-25%4".to_owned())]);
        assert_eq!(lists(&all, 25), [(0, "1-24%4".to_owned()), (24, "1%4".to_owned())]);
        assert_eq!(lists(&all, 11), [(0, "1-10%4".into()), (10, "1-10%4".into()), (20, "1-5%4".into())]);
        // What is missing, and nothing else.
        assert_eq!(lists(&[3, 4, 11, 23], 11), [(0, "3-4%4".into()), (10, "1%4".into()), (20, "3%4".into())]);
        assert!(arrays(&all, 0).is_err() && arrays(&all, 1).is_err());
        assert_eq!(arrays(&[], 11).unwrap(), []);
    }

    #[test]
    fn no_list_is_longer_than_a_word_may_be() {
        let odd: Vec<usize> = (1..=100_000).step_by(2).collect();
        let arrays = arrays(&odd, 4_000_001).unwrap();
        assert!(arrays.len() > 1);
        assert!(arrays.iter().all(|array| array.list(None).len() <= LONGEST_LIST));
        let back: Vec<usize> = arrays.iter().flat_map(|a| a.indices.iter().map(|index| a.offset + index)).collect();
        assert_eq!(back, odd);
    }

    #[test]
    fn answers_of_the_cluster() {
        assert_eq!(job_id("123\n").ok(), Some(123));
        assert_eq!(job_id("note: welcome\n123;main\n").ok(), Some(123));
        assert!(job_id("").is_err() && job_id("Submitted batch job 5").is_err());
        assert_eq!(max_array_size("A = 1\nMaxArraySize            = 1001\nMaxB = 2\n"), Some(1001));
        assert_eq!(max_array_size("MaxArraySize = (null)"), None);
        assert_eq!(max_array_size(""), None);
    }

    #[test]
    fn the_signal_comes_when_something_can_still_be_done() {
        let job = |longest, time: &str| Job { longest, time: time.parse().ok(), ..Job::default() };
        assert_eq!(lead(&job(0.0, "")), 60);
        assert_eq!(lead(&job(100.0, "1:00:00")), 180);
        assert_eq!(lead(&job(1e6, "")), 65535);
        assert_eq!(lead(&job(1e6, "10")), 300);
        assert_eq!(lead(&job(0.0, "1")), 30);
    }
}
