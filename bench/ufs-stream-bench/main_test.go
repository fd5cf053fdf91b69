package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// TestProgramOutside: the program, copied and run in a folder outside the module, has its name, makes and judges data,
// finds the ufs-stream that is beside it or in PATH, and if there is none it names the remedy.
func TestProgramOutside(t *testing.T) {
	bin, tools, dir := t.TempDir(), t.TempDir(), t.TempDir()
	program, measured := filepath.Join(bin, "ufs-stream-bench"), filepath.Join(tools, "ufs-stream")
	for file, source := range map[string]string{program: "bench/ufs-stream-bench", measured: "cmd/ufs-stream"} {
		built := must.Get(benchtest.BuildProgram(source))(t)
		must.Do(t, os.WriteFile(file, must.Get(os.ReadFile(built))(t), 0o755))
	}
	run := func(wantCode int, want, path string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+path, "TMPDIR="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != wantCode || !regexp.MustCompile(want).Match(out) {
			t.Errorf("%v: exit code %d (%v), want %d and %q in\n%s", args, code, err, wantCode, want, out)
		}
	}
	nowhere := t.TempDir()
	run(exit.Done, `^ufs-stream-bench `+regexp.QuoteMeta(ufs.Release), nowhere, "--version")
	run(exit.Done, `(?s)^ufs-stream-bench makes data.*Usage:\n  ufs-stream-bench `, nowhere, "--help")
	run(exit.Done, ``, nowhere, "gen", "planted", "--rows", "300", "--columns", "30", "--label", "-q", "-o", "planted.parquet")
	run(exit.Done, `planted, greedy`, nowhere, "quality", "--generated=false", "--methods", "random,greedy", "--k", "10", "--halves", "0", "--seeds", "2", "-o", "q", ".")
	if text := string(must.Get(os.ReadFile(filepath.Join(dir, "q.md")))(t)); !strings.Contains(text, "ufs-stream-bench quality") || strings.Contains(text, "go run") {
		t.Errorf("q.md does not have the command that made it:\n%s", text)
	}

	measure := []string{"memory", "planted.parquet", "--tables", "none", "--runs", "scan", "--results", "."}
	run(exit.Usage, `no ufs-stream to measure.*go install \S+/cmd/ufs-stream@latest.*--binary`, nowhere, measure...)
	run(exit.Done, `(?m)^\| scan \|`, tools, measure...)
	must.Do(t, os.Rename(measured, filepath.Join(bin, "ufs-stream")))
	run(exit.Done, `(?m)^\| scan \|`, nowhere, measure...)
	run(exit.Usage, `bareread is built from its source.*in the project's folder`, nowhere, "scale", "--rows", "100", "--columns", "4")
}
