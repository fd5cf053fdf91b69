package scanning

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
)

// environment is a lookup that knows nothing else.
func environment(text string) func(string) (string, bool) {
	values := map[string]string{}
	for _, assignment := range strings.Fields(text) {
		name, value, _ := strings.Cut(assignment, "=")
		values[name] = value
	}
	return func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	}
}

// slurm is the environment of an element of a Slurm array.
func slurm(id, least, most, count, step int) string {
	return fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d SLURM_ARRAY_TASK_MIN=%d SLURM_ARRAY_TASK_MAX=%d SLURM_ARRAY_TASK_COUNT=%d SLURM_ARRAY_TASK_STEP=%d", id, least, most, count, step)
}

func TestShardOf(t *testing.T) {
	const (
		kubernetes = "JOB_COMPLETION_INDEX=2 "
		aws        = "AWS_BATCH_JOB_ARRAY_INDEX=0 AWS_BATCH_JOB_ARRAY_SIZE=8 "
		cloudRun   = "CLOUD_RUN_TASK_INDEX=7 CLOUD_RUN_TASK_COUNT=8 "
	)
	for _, c := range []struct {
		text, environment string
		want              gathering.Shard
		says              string // of an error; empty for none
	}{
		// By hand: the environment is ignored.
		{"", kubernetes + aws, gathering.Shard{}, ""},
		{"2/8", kubernetes + aws, gathering.Shard{Number: 2, Count: 8}, ""},
		{"0/8", "", gathering.Shard{}, "1 <= I <= N"},
		{"automatic", "", gathering.Shard{}, "want I/N"},
		{"Auto", slurm(1, 1, 8, 8, 1), gathering.Shard{}, "want I/N"},

		{"auto", "", gathering.Shard{}, "SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX, CLOUD_RUN_TASK_INDEX is set"},
		{"auto", "SLURM_JOB_ID=17 SLURM_NTASKS=3", gathering.Shard{}, "no scheduler"},
		{"auto/8", "", gathering.Shard{}, "no scheduler"},
		{"auto", kubernetes + aws, gathering.Shard{}, "JOB_COMPLETION_INDEX (Kubernetes) and AWS_BATCH_JOB_ARRAY_INDEX (AWS Batch) are set"},
		{"auto/8", cloudRun + slurm(1, 1, 8, 8, 1), gathering.Shard{}, "SLURM_ARRAY_TASK_ID (Slurm) and CLOUD_RUN_TASK_INDEX (Cloud Run) are set"},
		{"auto", aws + "JOB_COMPLETION_INDEX=", gathering.Shard{Number: 1, Count: 8}, ""}, // an empty variable is none
		{"auto/", kubernetes, gathering.Shard{}, "want auto/N"},
		{"auto/0", kubernetes, gathering.Shard{}, "want auto/N"},
		{"auto/-3", kubernetes, gathering.Shard{}, "want auto/N"},
		{"auto/+8", kubernetes, gathering.Shard{}, "want auto/N"},
		{"auto/3/8", kubernetes, gathering.Shard{}, "want auto/N"},

		{"auto", slurm(1, 1, 8, 8, 1), gathering.Shard{Number: 1, Count: 8}, ""},
		{"auto", slurm(8, 1, 8, 8, 1), gathering.Shard{Number: 8, Count: 8}, ""},
		{"auto", slurm(0, 0, 7, 8, 1), gathering.Shard{Number: 1, Count: 8}, ""},
		{"auto", slurm(7, 0, 7, 8, 1), gathering.Shard{Number: 8, Count: 8}, ""},
		{"auto", slurm(1, 1, 1, 1, 1), gathering.Shard{Number: 1, Count: 1}, ""},
		{"auto", slurm(3, 3, 7, 2, 1), gathering.Shard{}, "2 elements from 3 to 7, which does not give the number of shards; give shard auto/N"},
		{"auto", slurm(1, 1, 7, 2, 1), gathering.Shard{}, "auto/N"},
		{"auto", slurm(3, 3, 3, 1, 1), gathering.Shard{}, "auto/N"},
		{"auto", slurm(1, 1, 7, 4, 2), gathering.Shard{}, "in steps of 2"},
		{"auto", slurm(9, 1, 8, 8, 1), gathering.Shard{}, "SLURM_ARRAY_TASK_ID is 9"},
		{"auto", slurm(0, 1, 8, 8, 1), gathering.Shard{}, "SLURM_ARRAY_TASK_ID is 0"},
		{"auto", "SLURM_ARRAY_TASK_ID=3", gathering.Shard{}, "SLURM_ARRAY_TASK_MIN is not"},
		{"auto", strings.Replace(slurm(1, 1, 8, 8, 1), "COUNT=8", "COUNT=8.0", 1), gathering.Shard{}, `SLURM_ARRAY_TASK_COUNT is "8.0"`},
		{"auto", strings.Replace(slurm(1, 1, 8, 8, 1), "ID=1", "ID=one", 1), gathering.Shard{}, `SLURM_ARRAY_TASK_ID is "one"`},

		{"auto/8", slurm(3, 3, 7, 2, 4), gathering.Shard{Number: 3, Count: 8}, ""},
		{"auto/8", slurm(8, 1, 8, 8, 1), gathering.Shard{Number: 8, Count: 8}, ""},
		{"auto/8", "SLURM_ARRAY_TASK_ID=7", gathering.Shard{Number: 7, Count: 8}, ""},
		{"auto/8", slurm(9, 3, 9, 2, 6), gathering.Shard{}, "array=1-8"},
		{"auto/8", slurm(0, 0, 7, 8, 1), gathering.Shard{}, "submit it as array=1-8, or as array=0-7 with shard auto"},
		{"auto/8", slurm(7, 0, 7, 8, 1), gathering.Shard{}, "begins at 0"}, // all elements alike

		{"auto", kubernetes, gathering.Shard{}, "JOB_COMPLETIONS, the number of shards, is not (Kubernetes does not report it"},
		{"auto", kubernetes + "JOB_COMPLETIONS=3", gathering.Shard{Number: 3, Count: 3}, ""},
		{"auto", kubernetes + "JOB_COMPLETIONS=2", gathering.Shard{}, "JOB_COMPLETION_INDEX is 2, and Kubernetes counts 2 shards from 0 to 1"},
		{"auto", kubernetes + "JOB_COMPLETIONS=many", gathering.Shard{}, `JOB_COMPLETIONS is "many"`},
		{"auto", kubernetes + "JOB_COMPLETIONS=0", gathering.Shard{}, "counts 0 shards"},
		{"auto/8", kubernetes, gathering.Shard{Number: 3, Count: 8}, ""},
		{"auto/2", kubernetes, gathering.Shard{}, "JOB_COMPLETION_INDEX is 2"},
		{"auto", "JOB_COMPLETION_INDEX=-1 JOB_COMPLETIONS=2", gathering.Shard{}, `JOB_COMPLETION_INDEX is "-1"`},

		{"auto", aws, gathering.Shard{Number: 1, Count: 8}, ""},
		{"auto", "AWS_BATCH_JOB_ARRAY_INDEX=3", gathering.Shard{}, "AWS Batch should set it"},
		{"auto/10", aws, gathering.Shard{Number: 1, Count: 10}, ""},
		{"auto", cloudRun, gathering.Shard{Number: 8, Count: 8}, ""},
		{"auto/7", cloudRun, gathering.Shard{}, "CLOUD_RUN_TASK_INDEX is 7"},
	} {
		got, err := readShard(c.text, environment(c.environment))
		usage := (*stream.UsageError)(nil)
		switch {
		case c.says == "" && (err != nil || got != c.want):
			t.Errorf("%q, %s: %v, %v; want %v", c.text, c.environment, got, err, c.want)
		case c.says != "" && (!errors.As(err, &usage) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%q, %s: %v, %v; want an error of usage with %q", c.text, c.environment, got, err, c.says)
		}
	}
}

// The elements of a job are the shards, each once, whatever the scheduler; and the element
// that runs again alone under auto/N is the same shard as in the array of all.
func TestShardOfCoversAll(t *testing.T) {
	for _, n := range []int{1, 2, 8, 1000} {
		for name, element := range map[string]func(i int) string{
			"slurm from 1": func(i int) string { return slurm(i+1, 1, n, n, 1) },
			"slurm from 0": func(i int) string { return slurm(i, 0, n-1, n, 1) },
			"kubernetes":   func(i int) string { return fmt.Sprintf("JOB_COMPLETION_INDEX=%d JOB_COMPLETIONS=%d", i, n) },
			"aws": func(i int) string {
				return fmt.Sprintf("AWS_BATCH_JOB_ARRAY_INDEX=%d AWS_BATCH_JOB_ARRAY_SIZE=%d", i, n)
			},
			"cloud run": func(i int) string { return fmt.Sprintf("CLOUD_RUN_TASK_INDEX=%d CLOUD_RUN_TASK_COUNT=%d", i, n) },
		} {
			seen := map[gathering.Shard]bool{}
			for i := range n {
				s, err := readShard("auto", environment(element(i)))
				if err != nil || s != (gathering.Shard{Number: i + 1, Count: n}) {
					t.Fatalf("%s, element %d of %d: %v, %v", name, i, n, s, err)
				}
				seen[s] = true
				if strings.HasSuffix(name, "from 0") {
					continue // which auto/N refuses
				}
				alone := element(i)
				if name == "slurm from 1" {
					alone = slurm(i+1, i+1, i+1, 1, 1)
				}
				if again, err := readShard(fmt.Sprintf("auto/%d", n), environment(alone)); err != nil || again != s {
					t.Errorf("%s, element %d of %d again: %v, %v", name, i, n, again, err)
				}
			}
			if len(seen) != n {
				t.Errorf("%s: %d elements, %v, want %d", name, len(seen), maps.Keys(seen), n)
			}
		}
	}
}

// The environment is only read for auto.
func TestShardOfLooksOnlyWhenAsked(t *testing.T) {
	for _, text := range []string{"", "1/2", "x", "3/2", "autos"} {
		_, _ = readShard(text, func(name string) (string, bool) {
			t.Errorf("%q looks for %s", text, name)
			return "", false
		})
	}
}

// FuzzShard: a shard is one of its count, or is refused as a usage error.
func FuzzShard(f *testing.F) {
	for _, text := range []string{"", "2/8", "auto", "auto/3", "-1/2", "2048", "9223372036854775807"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		look := environment("SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1")
		s, err := readShard(text, func(name string) (string, bool) {
			if name == "SLURM_ARRAY_TASK_COUNT" {
				return text, true
			}
			return look(name)
		})
		if err != nil && !errors.As(err, new(*stream.UsageError)) {
			t.Errorf("got %T: %v, want a usage error or none", err, err)
		}
		if err == nil && text != "" && (s.Number < 1 || s.Number > s.Count) {
			t.Errorf("shard %d of %d", s.Number, s.Count)
		}
	})
}
