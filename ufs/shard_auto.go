package ufs

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// shardAuto names the shard that a scheduler numbers: alone, or as auto/N.
const shardAuto = "auto"

// readShard reads "I/N"; empty is the whole. For "auto" the number and the count come from the scheduler, by
// lookup ([os.LookupEnv]), and for "auto/N" only the number: that is right also if only the failed elements run
// again. Nothing else is looked up.
func readShard(text string, lookup func(string) (string, bool)) (shard, error) {
	switch rest, isAuto := strings.CutPrefix(text, shardAuto); {
	case isAuto && rest == "":
		return shardFromEnvironment(lookup, 0)
	case isAuto && rest[0] == '/':
		count, ok := parseDigits(rest[1:])
		if !ok || count < 1 {
			return shard{}, stream.Usagef("{shard} %q: want auto/N with a number of shards, as auto/8", text)
		}
		return shardFromEnvironment(lookup, count)
	}
	return parseShard(text)
}

// scheduler describes the variables by which an engine numbers many alike processes.
type scheduler struct {
	name   string
	index  string // the variable that numbers the processes
	count  string // the variable with their count; empty if the engine has another way
	remedy string // remedy if the count is missing; empty if the engine always sets it
}

// schedulers lists the known schedulers. All but Slurm, whose arrays are any set of numbers, count from 0
// without gaps.
func schedulers() []scheduler {
	return []scheduler{
		{name: "Slurm", index: "SLURM_ARRAY_TASK_ID"},
		{name: "Kubernetes", index: "JOB_COMPLETION_INDEX", count: "JOB_COMPLETIONS", remedy: "Kubernetes does not tell: set it in the manifest to the job's completions"},
		{name: "AWS Batch", index: "AWS_BATCH_JOB_ARRAY_INDEX", count: "AWS_BATCH_JOB_ARRAY_SIZE"},
		{name: "Cloud Run", index: "CLOUD_RUN_TASK_INDEX", count: "CLOUD_RUN_TASK_COUNT"},
	}
}

// environmentLookup looks up a variable of the environment. An empty variable counts as unset.
type environmentLookup func(string) (string, bool)

func (v environmentLookup) get(name string) string {
	value, _ := v(name)
	return value
}

func (v environmentLookup) number(name string) (int, error) {
	n, ok := parseDigits(v.get(name))
	if !ok {
		return 0, stream.Usagef("{shard} auto: %s is %q, not a whole number", name, v.get(name))
	}
	return n, nil
}

// parseDigits reads a number of digits only. Atoi would also accept a sign.
func parseDigits(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && !strings.ContainsAny(s, "+-")
}

// shardFromEnvironment returns the shard whose number is in the environment. It is one of count shards or, if count
// is 0, of the number of shards in the environment.
func shardFromEnvironment(lookup environmentLookup, count int) (shard, error) {
	known := schedulers()
	var names []string
	for _, s := range known {
		names = append(names, s.index)
	}
	found := slices.DeleteFunc(known, func(s scheduler) bool { return lookup.get(s.index) == "" })
	switch len(found) {
	case 0:
		return shard{}, stream.Usagef("{shard} auto: no scheduler numbers this process: none of %s is set; give {shard} I/N", strings.Join(names, ", "))
	case 1:
	default:
		var clash []string
		for _, s := range found {
			clash = append(clash, s.index+" ("+s.name+")")
		}
		return shard{}, stream.Usagef("{shard} auto: %s are set, and only one can be meant; unset the others, or give {shard} I/N", strings.Join(clash, " and "))
	}
	s := found[0]
	index, err := lookup.number(s.index)
	if err != nil {
		return shard{}, err
	}
	if s.name == "Slurm" {
		return shardFromSlurm(lookup, index, count)
	}
	if count == 0 {
		if lookup.get(s.count) == "" {
			return shard{}, stream.Usagef("{shard} auto: %s is set, but %s, the number of shards, is not (%s); or give {shard} auto/N",
				s.index, s.count, cmp.Or(s.remedy, s.name+" should set it"))
		}
		if count, err = lookup.number(s.count); err != nil {
			return shard{}, err
		}
	}
	if index >= count {
		return shard{}, stream.Usagef("{shard} auto: %s is %d, and %s counts %d shards from 0 to %d", s.index, index, s.name, count, count-1)
	}
	return shard{index + 1, count}, nil
}

// shardFromSlurm returns the shard of an element of a Slurm array. Without a count the array must be 0-7 or 1-8:
// rows of a gap would be missing from the result. With one the elements may be any of 1 to count, for example only
// failed ones that run again (array 3,7). They cannot be counted from 0: whether 3 and 7 were counted from 0 or
// from 1 cannot be seen.
func shardFromSlurm(lookup environmentLookup, id, count int) (shard, error) {
	if count > 0 {
		// An array of 0-7 shows by its least number, so that all elements fail alike, not only one of eight.
		if id == 0 || lookup.get("SLURM_ARRAY_TASK_MIN") == "0" {
			return shard{}, stream.Usagef("{shard} auto/%d takes Slurm's elements as counted from 1, and this array begins at 0; submit it as array=1-%[1]d, or as array=0-%d with {shard} auto", count, count-1)
		}
		if id > count {
			return shard{}, stream.Usagef("{shard} auto/%d: SLURM_ARRAY_TASK_ID is %d; submit elements of array=1-%[1]d", count, id)
		}
		return shard{id, count}, nil
	}
	const (
		least, most, elements = "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_COUNT"
	)
	var n [3]int
	for i, name := range []string{least, most, elements} {
		if lookup.get(name) == "" {
			return shard{}, stream.Usagef("{shard} auto: SLURM_ARRAY_TASK_ID is set, but %s is not; give {shard} auto/N", name)
		}
		var err error
		if n[i], err = lookup.number(name); err != nil {
			return shard{}, err
		}
	}
	from, to, count := n[0], n[1], n[2]
	if from > 1 || to < from || count != to-from+1 {
		step := ""
		if s := lookup.get("SLURM_ARRAY_TASK_STEP"); s != "" && s != "1" {
			step = ", in steps of " + s
		}
		return shard{}, stream.Usagef("{shard} auto: the Slurm array has %d elements from %d to %d%s, which does not tell how many shards there are; give {shard} auto/N with the number of all shards, and array=1-N for all of them",
			count, from, to, step)
	}
	if id < from || id > to {
		return shard{}, stream.Usagef("{shard} auto: SLURM_ARRAY_TASK_ID is %d, which is not in the array of %d to %d", id, from, to)
	}
	return shard{id - from + 1, count}, nil
}
