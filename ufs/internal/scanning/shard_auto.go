package scanning

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
)

// shardAuto, alone or as auto/N, means the shard whose number a scheduler gives.
const shardAuto = "auto"

func readShard(text string, lookup func(string) (string, bool)) (gathering.Shard, error) {
	switch rest, isAuto := strings.CutPrefix(text, shardAuto); {
	case isAuto && rest == "":
		return shardFromEnvironment(lookup, 0)
	case isAuto && rest[0] == '/':
		count, ok := parseDigits(rest[1:])
		if !ok || count < 1 {
			return gathering.Shard{}, stream.Usagef("{shard} %q: want auto/N with a number of shards, as auto/8", text)
		}
		return shardFromEnvironment(lookup, count)
	}
	return gathering.ParseShard(text)
}

// scheduler describes the environment variables in which a scheduler numbers the processes of a job.
type scheduler struct {
	name   string
	index  string // the variable that numbers the processes
	count  string // the variable with their count; empty for Slurm: see shardFromSlurm
	remedy string // remedy if the count is missing; empty if the scheduler always sets it
}

// schedulers lists the known schedulers. All but Slurm, which allows any set of numbers, count from 0 without gaps.
func knownSchedulers() []scheduler {
	return []scheduler{
		{name: "Slurm", index: "SLURM_ARRAY_TASK_ID"},
		{name: "Kubernetes", index: "JOB_COMPLETION_INDEX", count: "JOB_COMPLETIONS", remedy: "Kubernetes does not report it: set it in the manifest to the job's completions"},
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

// parseDigits parses a number that consists only of digits. Atoi would also accept a sign.
func parseDigits(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && !strings.ContainsAny(s, "+-")
}

// shardFromEnvironment returns the shard whose number is in the environment. If count is 0, the number of shards is in
// the environment too.
func shardFromEnvironment(lookup environmentLookup, count int) (gathering.Shard, error) {
	known := knownSchedulers()
	names := convert.Each(known, func(s scheduler) string { return s.index })
	found := slices.DeleteFunc(known, func(s scheduler) bool { return lookup.get(s.index) == "" })
	switch len(found) {
	case 0:
		return gathering.Shard{}, stream.Usagef("{shard} auto: no scheduler numbers this process: none of %s is set; give {shard} I/N", strings.Join(names, ", "))
	case 1:
	default:
		clash := convert.Each(found, func(s scheduler) string { return s.index + " (" + s.name + ")" })
		return gathering.Shard{}, stream.Usagef("{shard} auto: %s are set, and only one can be meant; unset the others, or give {shard} I/N", strings.Join(clash, " and "))
	}
	s := found[0]
	index, err := lookup.number(s.index)
	if err != nil {
		return gathering.Shard{}, err
	}
	if s.name == "Slurm" {
		return shardFromSlurm(lookup, index, count)
	}
	if count == 0 {
		if lookup.get(s.count) == "" {
			return gathering.Shard{}, stream.Usagef("{shard} auto: %s is set, but %s, the number of shards, is not (%s); or give {shard} auto/N",
				s.index, s.count, cmp.Or(s.remedy, s.name+" should set it"))
		}
		if count, err = lookup.number(s.count); err != nil {
			return gathering.Shard{}, err
		}
	}
	if index >= count {
		return gathering.Shard{}, stream.Usagef("{shard} auto: %s is %d, and %s counts %d shards from 0 to %d", s.index, index, s.name, count, count-1)
	}
	return gathering.Shard{Number: index + 1, Count: count}, nil
}

// shardFromSlurm returns the shard of element id of a Slurm array. If count is 0, the array must be 0-(N-1) or 1-N,
// because the result would lack the rows of a gap. Otherwise the elements may be any numbers from 1 to count, for
// example only the failed elements that run again (array 3,7). They must count from 1, because 3 and 7 do not show
// whether counting began at 0 or at 1.
func shardFromSlurm(lookup environmentLookup, id, count int) (gathering.Shard, error) {
	if count > 0 {
		// An array that counts from 0 is refused. Each element sees the array's least number, so that all of them fail.
		if id == 0 || lookup.get("SLURM_ARRAY_TASK_MIN") == "0" {
			return gathering.Shard{}, stream.Usagef("{shard} auto/%d takes Slurm's elements as counted from 1, and this array begins at 0; submit it as array=1-%[1]d, or as array=0-%d with {shard} auto", count, count-1)
		}
		if id > count {
			return gathering.Shard{}, stream.Usagef("{shard} auto/%d: SLURM_ARRAY_TASK_ID is %d; submit elements of array=1-%[1]d", count, id)
		}
		return gathering.Shard{Number: id, Count: count}, nil
	}
	const (
		least, most, elements = "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_COUNT"
	)
	var n [3]int
	for i, name := range []string{least, most, elements} {
		if lookup.get(name) == "" {
			return gathering.Shard{}, stream.Usagef("{shard} auto: SLURM_ARRAY_TASK_ID is set, but %s is not; give {shard} auto/N", name)
		}
		var err error
		if n[i], err = lookup.number(name); err != nil {
			return gathering.Shard{}, err
		}
	}
	from, to, count := n[0], n[1], n[2]
	if from > 1 || to < from || count != to-from+1 {
		step := ""
		if s := lookup.get("SLURM_ARRAY_TASK_STEP"); s != "" && s != "1" {
			step = ", in steps of " + s
		}
		return gathering.Shard{}, stream.Usagef("{shard} auto: the Slurm array has %d elements from %d to %d%s, which does not give the number of shards; give {shard} auto/N with the number of all shards, and array=1-N for all of them",
			count, from, to, step)
	}
	if id < from || id > to {
		return gathering.Shard{}, stream.Usagef("{shard} auto: SLURM_ARRAY_TASK_ID is %d, which is not in the array of %d to %d", id, from, to)
	}
	return gathering.Shard{Number: id - from + 1, Count: count}, nil
}
