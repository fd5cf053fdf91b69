package kill

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/bench/internal/gen"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// standIn plays ufs-stream: in steps that it keeps in its state, and an output that is there at once.
// scan forgets to remove its state, and apply refuses an output that is there.
const standIn = `#!/bin/sh
verb=$1
for word; do
	[ "$last" = --checkpoint ] && state=$word
	[ "$last" = -o ] && out=$word
	last=$word
done
[ $verb = version ] && { echo stand-in 1; exit; }
[ $verb = plan ] && { echo '{"memory": {"smallest_bytes": 1048575}}'; exit; }
[ $verb = apply ] && [ -e "$out" ] && { echo "not empty" >&2; exit 1; }
if [ "$state" ]; then
	mkdir -p "$state"
	for step in 1 2 3 4; do
		[ -e "$state/$step" ] || { sleep 0.02; touch "$state/$step"; }
	done
fi
case $out in *.json) time=$$ ;; esac
echo "{\"timing\": \"$time\", \"verb\": \"$verb\"}" >"$out.part"
mv "$out.part" "$out"
[ $verb = apply ] && sleep 0.03
[ $verb = scan ] || rm -rf "$state"
`

// The verb kills, starts again, and distinguishes the files of a good run from forbidden ones.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "stand-in")
	must.Do(t, os.WriteFile(binary, []byte(standIn), 0o755))
	bench := benchtest.Program{gen.New}
	o := options{kills: 3, share: 0.0005, every: 1, binary: binary, folder: dir, dir: filepath.Join(dir, "work"), progress: t.Output(), generate: bench.Generate}
	var out strings.Builder
	err := o.runKill(t.Context(), &out)
	if err == nil || exit.CodeOf(err) != exit.Fault {
		t.Fatalf("running a faulty program: got %v, want exit code %d", err, exit.Fault)
	}
	if n := strings.Count(out.String(), "all.ufs.state"); n == 0 {
		t.Errorf("the state that scan leaves is not told of:\n%s", out.String())
	}
	for _, row := range []string{"| select sfufs | ", "| apply | "} {
		_, rest, found := strings.Cut(out.String(), row)
		line, _, _ := strings.Cut(rest, "\n")
		if !found || !strings.HasSuffix(line, "| 0 |") {
			t.Errorf("%s%s: want no fault", row, line)
		}
	}
}

// A part of an output, another one, and one more file are detected as different from the output of a run
// without a kill.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	write := func(name, text string) {
		t.Helper()
		must.Do(t, os.MkdirAll(out, 0o777))
		must.Do(t, os.WriteFile(filepath.Join(out, name), []byte(text), 0o666))
	}
	want := map[string]string{"/a.csv": "1", "/b.json": `{"k":1}`}
	for _, c := range []struct {
		name string
		make func()
		done bool
		say  string
	}{
		{"nothing, killed", func() {}, false, ""},
		{"nothing, done", func() {}, true, "no such file"},
		{"whole", func() { write("a.csv", "1"); write("b.json", `{"timing": 3, "k":1, "memory": 2}`) }, false, ""},
		{"a part", func() { write("a.csv", "1") }, false, "1 files"},
		{"another", func() { write("a.csv", "2"); write("b.json", `{"k":1}`) }, true, "out/a.csv differs"},
		{"cut off", func() { write("a.csv", "1"); write("b.json", `{"k":`) }, true, "unexpected end"},
	} {
		must.Do(t, os.RemoveAll(out))
		c.make()
		if got := describeDifference(out, want, c.done); (got == "") != (c.say == "") || !strings.Contains(got, c.say) {
			t.Errorf("%s: %q, want %q", c.name, got, c.say)
		}
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, ".x.ufs-tmp"), nil, 0o666))
	if left := listLeftoverFiles(out, filepath.Join(dir, "none")); len(left) != 1 {
		t.Errorf("%q is left, want one temporary file", left)
	}
}
