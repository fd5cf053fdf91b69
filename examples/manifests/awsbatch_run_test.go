package manifests

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/batch"
	"github.com/aws/aws-sdk-go-v2/service/batch/types"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

const awsFolder = "../aws-batch"

// jobDefinition is that of the example.
func jobDefinition(t *testing.T) (in batch.RegisterJobDefinitionInput, text string) {
	t.Helper()
	text = string(must.Get(os.ReadFile(filepath.Join(awsFolder, "job-definition.json")))(t))
	must.Do(t, document(text, &in, (*batch.Client).RegisterJobDefinition))
	return in, text
}

// Strictness is what the test of the definition stands on.
func TestJobDefinitionIsDecodedStrictly(t *testing.T) {
	_, text := jobDefinition(t)
	for old, wrong := range map[string]string{
		`"retryStrategy"`:     `"retrystrategy"`,
		`"attempts": 4`:       `"attempts": 4, "attempts": 4`,
		`"jobRoleArn"`:        `"jobRole"`,
		`"value": "2"`:        `"value": 2`,
		`"type": "container"`: `"tags": {}`,
	} {
		var in batch.RegisterJobDefinitionInput
		if changed := strings.Replace(text, old, wrong, 1); changed == text || document(changed, &in, (*batch.Client).RegisterJobDefinition) == nil {
			t.Errorf("%s is taken for %s", wrong, old)
		}
	}
}

// TestDefinitionIsConfined: a container is nobody's, changes nothing of its image, has a place of its own for scratch, and
// its rights come from its role, not from its environment.
func TestDefinitionIsConfined(t *testing.T) {
	in, _ := jobDefinition(t)
	c := in.ContainerProperties
	user, image, role := aws.ToString(c.User), aws.ToString(c.Image), aws.ToString(c.JobRoleArn)
	privileged, readOnly := aws.ToBool(c.Privileged), aws.ToBool(c.ReadonlyRootFilesystem)
	if user != "65532:65532" || privileged || !readOnly || role == "" || image != "IMAGE" {
		t.Errorf("user %s, privileged %t, read-only root %t, role %q, image %s; want nobody's, false, true, a role and IMAGE", user, privileged, readOnly, role, image)
	}
	if len(c.MountPoints) != 1 || *c.MountPoints[0].ContainerPath != "/tmp" || len(c.Volumes) != 1 || c.Volumes[0].Host != nil || *c.Volumes[0].Name != *c.MountPoints[0].SourceVolume {
		t.Errorf("the volumes are %+v, mounted as %+v; want one of no path of the machine's, at /tmp", c.Volumes, c.MountPoints)
	}
	for _, e := range c.Environment {
		if *e.Name != "AWS_REGION" {
			t.Errorf("%s is in the environment", *e.Name)
		}
	}
}

// Every code is tried again, or not, as package exit says; AWS takes five conditions.
func TestRetryStrategyFollowsTheExitCodes(t *testing.T) {
	in, _ := jobDefinition(t)
	const exited = "Essential container in task exited"
	s := in.RetryStrategy
	for _, e := range s.EvaluateOnExit {
		if !slices.Contains(e.Action.Values(), e.Action) {
			t.Errorf("there is no action %q", e.Action)
		}
	}
	if n := len(s.EvaluateOnExit); n > 5 || *s.Attempts < 2 || *s.Attempts > 10 {
		t.Errorf("%d conditions, %d attempts", n, *s.Attempts)
	}
	for code, again := range map[int]bool{
		exit.Fault: true, exit.Usage: false, exit.Data: false, exit.Memory: false,
		exit.TryAgain: true, exit.Interrupted: true, 128 + int(syscall.SIGKILL): true, 128 + int(syscall.SIGTERM): true,
	} {
		if retries(s, code, "", exited) != again {
			t.Errorf("code %d: want another try: %t", code, again)
		}
		if !retries(s, code, "", "Host EC2 (instance i-0123456789abcdef0) terminated.") {
			t.Errorf("code %d: a machine that is taken away is not the shard's fault", code)
		}
	}
	if retries(s, 137, "OutOfMemoryError: Container killed due to memory usage", exited) {
		t.Error("the same memory is tried again")
	}
	var memory int64
	for _, r := range in.ContainerProperties.ResourceRequirements {
		if r.Type == types.ResourceTypeMemory {
			memory = flagged(t, []string{"--memory=" + *r.Value + "MiB"}, "--memory")
		}
	}
	script := string(must.Get(os.ReadFile(filepath.Join(awsFolder, "submit.sh")))(t))
	limit := strings.Replace(regexp.MustCompile(`--memory-limit \w+`).FindString(script), " ", "=", 1)
	if least := 1.25 * float64(flagged(t, []string{limit}, "--memory-limit")); float64(memory) < least {
		t.Errorf("a container has %d bytes, want %.0f for the program's limit", memory, least)
	}
}

// TestAWSBatch runs submit.sh with one round and with two: the same selection as in one run,
// and an element whose machine kills it is run again alone.
func TestAWSBatch(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Fatal("submit.sh needs jq")
	}
	data := folderOf(t)
	for _, c := range []struct {
		method, rounds string
		arrays         []string
	}{
		{"greedy", "1", []string{"ufs-scan"}},
		{"sfufs", "2", []string{"ufs-profile", "ufs-scan"}},
	} {
		t.Run(c.method, func(t *testing.T) {
			job := filepath.Join(t.TempDir(), "job")
			must.Do(t, os.Mkdir(job, 0o700))
			q := &queue{t: t, failed: map[string]string{}, arrays: map[string]int32{}}
			q.strike = func(job, index string, try int) *blow {
				if index == "3" && try == 0 {
					return &blow{signal: syscall.SIGKILL}
				}
				return nil
			}
			env := []string{"DATA=" + data, "JOB=" + job, "QUEUE=spot", "IMAGE=" + pushed, "METHOD=" + c.method, "K=6", "ROUNDS=" + c.rounds, "SHARDS=5"}
			code, out := runScript(t, filepath.Join(awsFolder, "submit.sh"), nil, env, []string{"aws"}, q.serve)
			if code != 0 || len(q.failed) > 0 {
				t.Fatalf("exit code %d, failed: %v\n%s\n%+v", code, q.failed, out, q.tries.all)
			}
			if got := *q.definition.ContainerProperties.Image; got != pushed {
				t.Errorf("the definition has the image %s, want %s", got, pushed)
			}
			if got := slices.Sorted(maps.Keys(q.arrays)); !slices.Equal(got, c.arrays) {
				t.Errorf("the arrays are %v, want %v", got, c.arrays)
			}
			for _, array := range c.arrays {
				codes := q.tries.of(array)
				for index, ended := range codes {
					if want := map[bool][]int{true: {137, 0}, false: {0}}[index == "3"]; !slices.Equal(ended, want) {
						t.Errorf("%s, element %s ended with %v, want %v", array, index, ended, want)
					}
				}
				if len(codes) != 5 {
					t.Errorf("%s: %d elements ran", array, len(codes))
				}
			}
			got := selectedBy(t, must.Get(os.ReadFile(filepath.Join(job, "selection.json")))(t))
			if want := inOneRun(t, data, c.method, "6"); !slices.Equal(got, want) {
				t.Errorf("selected %v, in one run %v", got, want)
			}
		})
	}
}

// A file that is gone after the plan was made ends its elements for good, and what waits for
// them does not run.
func TestAWSBatchGivesUp(t *testing.T) {
	data, job := folderOf(t), t.TempDir()
	q := &queue{t: t, failed: map[string]string{}, arrays: map[string]int32{}}
	q.strike = func(job, _ string, try int) *blow {
		if job == "ufs-scan" && try == 0 {
			_ = os.Remove(filepath.Join(data, "b.parquet"))
		}
		return nil
	}
	env := []string{"DATA=" + data, "JOB=" + job, "QUEUE=spot", "IMAGE=" + pushed, "K=6", "SHARDS=4"}
	code, out := runScript(t, filepath.Join(awsFolder, "submit.sh"), nil, env, []string{"aws"}, q.serve)
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, out) // it submits; Batch tells of failures
	}
	given, finals := 0, 0
	for index, codes := range q.tries.of("ufs-scan") {
		if given++; slices.Equal(codes, []int{exit.Data}) && strings.Contains(q.tries.last("ufs-scan", index), "b.parquet") {
			finals++
		}
	}
	if given != 4 || finals != 2 || len(q.tries.of("ufs-merge")) != 0 || len(q.tries.of("ufs-select")) != 0 {
		t.Errorf("%d elements ran, %d gave up at once with the name of the file; then: %+v", given, finals, q.tries.all)
	}
}
