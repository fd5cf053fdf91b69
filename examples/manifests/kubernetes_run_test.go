package manifests

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/controller/job"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// hurried makes Kubernetes' controller wait less than a real one, before a try and between
// looks: its own variables, "exported for tests".
func hurried(t *testing.T) {
	t.Helper()
	batchPeriod, apiBackOff, podBackOff := job.SyncJobBatchPeriod, job.DefaultJobApiBackOff, job.DefaultJobPodFailureBackOff
	job.SyncJobBatchPeriod, job.DefaultJobApiBackOff, job.DefaultJobPodFailureBackOff = 20*time.Millisecond, 20*time.Millisecond, 50*time.Millisecond
	t.Cleanup(func() {
		job.SyncJobBatchPeriod, job.DefaultJobApiBackOff, job.DefaultJobPodFailureBackOff = batchPeriod, apiBackOff, podBackOff
	})
}

// runSh runs run.sh of a folder in a cluster.
func runSh(t *testing.T, c *cluster, dir string, args ...string) (int, string) {
	t.Helper()
	return runScript(t, filepath.Join(dir, "run.sh"), args, []string{"POLL=0.1", "IMAGE=" + pushed}, []string{"kubectl"}, c.kubectl)
}

// settings is the example with the data and the job's files elsewhere.
func settings(t *testing.T, data, job, method string) string {
	t.Helper()
	return edited(t, kubernetesFolder, "settings.yaml", map[string]string{
		"UFS_DATA: s3://lake/events/": "UFS_DATA: " + data, "UFS_JOB: s3://lake/jobs/events-1": "UFS_JOB: " + job,
		"UFS_METHOD: greedy": "UFS_METHOD: " + method, `UFS_K: "20"`: `UFS_K: "6"`,
	})
}

// ran compares the tries of an indexed Job of eight.
func ran(t *testing.T, c *cluster, job string, want func(index string) []int) {
	t.Helper()
	codes := c.tries.of(job)
	for i := range 8 {
		index := strconv.Itoa(i)
		if got := codes[index]; !slices.Equal(got, want(index)) {
			t.Errorf("%s: index %s ended with %v, want %v\n%s", job, index, got, want(index), c.tries.last(job, index))
		}
	}
	if len(codes) != 8 {
		t.Errorf("%s: %d indexes ran", job, len(codes))
	}
}

// TestKubernetesStore runs the example as it is written, in a bucket of S3 with the Secret's
// credentials.
func TestKubernetesStore(t *testing.T) {
	hurried(t)
	server, environ := storetest.S3Apart(t)
	dataset(t, func(name string, content []byte) { server.PutObject("events/"+name, content) })
	credentials := "[default]\n"
	for _, variable := range environ {
		if name, value, _ := strings.Cut(variable, "="); value != "" && (name == "AWS_ACCESS_KEY_ID" || name == "AWS_SECRET_ACCESS_KEY") {
			credentials += strings.ToLower(name) + " = " + value + "\n"
		}
	}
	c := newCluster(t, map[string]string{"credentials": credentials})
	dir := edited(t, settings(t, "s3://lake/events/", "s3://lake/jobs/events-1", "greedy"), "settings.yaml", map[string]string{
		"AWS_REGION: eu-central-1": "AWS_REGION: us-east-1\n  AWS_EC2_METADATA_DISABLED: \"true\"\n  AWS_ENDPOINT_URL: " + server.Endpoint,
	})
	if code, out := runSh(t, c, dir); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	ran(t, c, "ufs-scan", func(string) []int { return []int{0} })
	for _, j := range must.Get(c.client.BatchV1().Jobs(namespace).List(t.Context(), metav1.ListOptions{}))(t).Items {
		for _, container := range containers(&j) {
			if container.Image != pushed {
				t.Errorf("%s: %s runs %s, want %s", j.Name, container.Name, container.Image, pushed)
			}
		}
	}
	if parts := must.Get(filepath.Glob(filepath.Join(server.Dir, "jobs/events-1/parts/part-*-of-00008.ufs")))(t); len(parts) != 8 {
		t.Errorf("the parts are %v", parts)
	}
	got := selectedBy(t, must.Get(os.ReadFile(filepath.Join(server.Dir, "jobs/events-1/selection.json")))(t))
	if want := inOneRun(t, filepath.Join(server.Dir, "events"), "greedy", "6"); !slices.Equal(got, want) {
		t.Errorf("selected %v, in one run %v", got, want)
	}
}

// TestKubernetesTwice runs the two rounds of a graph method. One index is killed, and uses up a
// try of its own; the node of another is drained more often than it has tries, and that counts
// against nobody. Nothing counts twice.
func TestKubernetesTwice(t *testing.T) {
	hurried(t)
	data, files := folderOf(t), t.TempDir()
	c := newCluster(t, nil)
	c.strike = func(job, index string, try int) *blow {
		switch {
		case job == "ufs-scan" && index == "3" && try == 0, job == "ufs-select" && try == 0:
			return &blow{signal: syscall.SIGKILL}
		case job == "ufs-scan" && index == "5" && try < 5:
			return &blow{signal: syscall.SIGTERM, drained: true}
		}
		return nil
	}
	dir := settings(t, data, files, "sfufs")
	if code, out := runSh(t, c, dir, "twice"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	ran(t, c, "ufs-profile", func(string) []int { return []int{0} })
	drained := c.tries.of("ufs-scan")["5"]
	if len(drained) != 6 || slices.Index(drained, 0) != 5 {
		t.Errorf("the drained index ended with %v", drained)
	}
	ran(t, c, "ufs-scan", func(index string) []int {
		switch index {
		case "3":
			return []int{137, 0}
		case "5":
			return drained
		}
		return []int{0}
	})
	// The killed step was the merge; its Job has one pod, and it began again.
	if codes := c.tries.of("ufs-select")[""]; !slices.Equal(codes, []int{137, 0, 0}) {
		t.Errorf("merge, merge and select ended with %v", codes)
	}
	got := selectedBy(t, must.Get(os.ReadFile(filepath.Join(files, "selection.json")))(t))
	if want := inOneRun(t, data, "sfufs", "6"); !slices.Equal(got, want) {
		t.Errorf("selected %v, in one run %v", got, want)
	}
}

// TestKubernetesGivesUp: a file that is gone after the plan was made fails its indexes at once,
// and run.sh says which and why. When it is back, a second run makes only what is missing.
func TestKubernetesGivesUp(t *testing.T) {
	hurried(t)
	data, files := folderOf(t), t.TempDir()
	file, aside := filepath.Join(data, "b.parquet"), filepath.Join(t.TempDir(), "b.parquet")
	c := newCluster(t, nil)
	var once sync.Once
	c.strike = func(job, _ string, _ int) *blow {
		if job == "ufs-scan" {
			once.Do(func() { must.Do(t, os.Rename(file, aside)) })
		}
		return nil
	}
	dir := settings(t, data, files, "greedy")
	code, out := runSh(t, c, dir)
	if code != 1 || !strings.Contains(out, "scan failed; indexes: ") || !strings.Contains(out, "b.parquet") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	gaveUp := 0
	for index, codes := range c.tries.of("ufs-scan") {
		if slices.Equal(codes, []int{0}) {
			continue
		}
		if gaveUp++; !slices.Equal(codes, []int{exit.Data}) || !strings.Contains(c.tries.last("ufs-scan", index), "b.parquet") {
			t.Errorf("index %s ended with %v\n%s", index, codes, c.tries.last("ufs-scan", index))
		}
	}
	if gaveUp < 3 || len(c.tries.of("ufs-select")) > 0 {
		t.Errorf("%d indexes gave up, more than maxFailedIndexes should; the next step was tried %d times", gaveUp, len(c.tries.of("ufs-select")))
	}
	must.Do(t, os.Rename(aside, file))
	parts := func() map[string]time.Time {
		made := map[string]time.Time{}
		for _, path := range must.Get(filepath.Glob(filepath.Join(files, "parts", "*.ufs")))(t) {
			made[path] = must.Get(os.Stat(path))(t).ModTime()
		}
		return made
	}
	before := parts()
	if code, out := runSh(t, c, dir); code != 0 {
		t.Fatalf("again: exit code %d\n%s", code, out)
	}
	after := parts()
	for path, made := range before {
		if !after[path].Equal(made) {
			t.Errorf("%s was made twice", path)
		}
	}
	if len(before) == 0 || len(after) != 8 {
		t.Errorf("%d parts, then %d", len(before), len(after))
	}
	got := selectedBy(t, must.Get(os.ReadFile(filepath.Join(files, "selection.json")))(t))
	if want := inOneRun(t, data, "greedy", "6"); !slices.Equal(got, want) {
		t.Errorf("selected %v, in one run %v", got, want)
	}
}
