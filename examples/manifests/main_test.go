package manifests

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

// desk is set in the environment of a test binary that plays kubectl or aws: where the test
// takes its command lines.
const desk = "UFS_EXAMPLES_DESK"

// order is a command line, and outcome what came of it.
type (
	order struct {
		Dir  string
		Args []string // the program first
	}
	outcome struct {
		Out, Err string
		Code     int
	}
)

func TestMain(m *testing.M) {
	if at := os.Getenv(desk); at != "" {
		os.Exit(atDesk(at))
	}
	dir, err := os.MkdirTemp("", "ufs-stream-examples-*")
	if err != nil {
		panic(err)
	}
	if err := os.Setenv(programFolder, dir); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir) // what is left of it is temporary
	os.Exit(code)
}

// atDesk hands this process's command line to the test, and ends as the test says.
func atDesk(at string) int {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	body, err := json.Marshal(order{dir, append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...)})
	if err != nil {
		panic(err)
	}
	answer, err := http.Post(at, "application/json", bytes.NewReader(body)) //nolint:noctx // ends with the test
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	var o outcome
	if err := json.NewDecoder(answer.Body).Decode(&o); err != nil {
		panic(err)
	}
	fmt.Print(o.Out)
	fmt.Fprint(os.Stderr, o.Err)
	return o.Code
}

// digest stands for that of an image, and pushed for the image.
const digest, pushed = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "registry.example/ufs-stream@sha256:" + digest

// runScript runs an example's script with stand-ins of the given names on its PATH, whose
// command lines serve answers.
func runScript(t *testing.T, script string, args, env, standIns []string, serve func(order) outcome) (code int, out string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var o order
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(serve(o)) // the process sees that it is cut off
	}))
	defer server.Close()
	bin, self := t.TempDir(), must.Get(os.Executable())(t)
	for _, name := range standIns {
		must.Do(t, os.Symlink(self, filepath.Join(bin, name)))
	}
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{script}, args...)...)
	cmd.Env = append(os.Environ(), append([]string{desk + "=" + server.URL, "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}, env...)...)
	text, _ := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("%s did not run", script)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// programFolder is where the program is built, in the environment.
const programFolder = "UFS_EXAMPLES_PROGRAM"

// program is ufs-stream, built once from this checkout with the versions of its own go.mod.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(os.Getenv(programFolder), "ufs-stream")
	build := exec.CommandContext(context.Background(), "go", "build", "-o", path, "./cmd/ufs-stream")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

// rowGroups of each of the two files: more than the shards, so that each has some.
const rowGroups = 12

// dataset writes two files of columns with hidden factors, with names that put is given.
func dataset(t *testing.T, put func(name string, content []byte)) {
	t.Helper()
	const rows = 500 // of a row group
	for i, name := range []string{"a.parquet", "b.parquet"} {
		path := filepath.Join(t.TempDir(), name)
		table := planted.New(planted.Options{Rows: rows * rowGroups, Seed: 7 + uint64(i)})
		must.Do(t, chunkio.WriteParquet(t.Context(), path, table, chunkio.WriteOptions{RowGroupRows: rows}))
		put(name, must.Get(os.ReadFile(path))(t))
	}
}

// folderOf is a dataset in a new folder.
func folderOf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	dataset(t, func(name string, content []byte) { must.Do(t, os.WriteFile(filepath.Join(dir, name), content, 0o600)) })
	return dir
}

// selectedBy is the selection in a file.
func selectedBy(t *testing.T, content []byte) []string {
	t.Helper()
	var s stream.Selection
	must.Do(t, json.Unmarshal(content, &s))
	var names []string
	for _, f := range s.Selected {
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		t.Fatalf("nothing is selected: %s", content)
	}
	return names
}

// inOneRun is the selection that one process makes of the data.
func inOneRun(t *testing.T, data, method, k string) []string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "one.json")
	c := container{args: []string{"select", data, "--method", method, "-k", k, "-o", out}}
	if code, said := c.run(t.Context(), t, nil); code != 0 {
		t.Fatalf("exit code %d\n%s", code, said)
	}
	return selectedBy(t, must.Get(os.ReadFile(out))(t))
}

// edited copies a folder of examples and replaces words in one of its files; each must be there.
func edited(t *testing.T, dir, file string, words map[string]string) string {
	t.Helper()
	to := t.TempDir()
	must.Do(t, os.CopyFS(to, os.DirFS(dir)))
	path := filepath.Join(to, file)
	text := string(must.Get(os.ReadFile(path))(t))
	for old, replacement := range words {
		if !strings.Contains(text, old) {
			t.Fatalf("%s has no %q", path, old)
		}
		text = strings.ReplaceAll(text, old, replacement)
	}
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return to
}
