package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// The commands of the README run as they stand, one after the other.
func TestREADME(t *testing.T) {
	text := string(must.Get(os.ReadFile("README.md"))(t))
	_, rest, _ := strings.Cut(text, "```sh\n")
	script, _, ok := strings.Cut(rest, "```")
	if !ok || strings.Count(script, "\n") < 5 {
		t.Fatalf("the README has no commands: %q", script)
	}
	dir, bin := t.TempDir(), filepath.Dir(ufsStream)
	rows := someEvents(rand.New(rand.NewPCG(20, 1)), 300)
	for i := range rows { // nothing is missing
		for name, value := range map[string]any{"qty": int64(i), "score": 1.5 + float64(i%7), "ok": i%3 == 0, "site": "a", "price": float64(i) / 100} {
			rows[i][name] = value
		}
		rows[i]["day"] = must.Get(parseDay(fmt.Sprintf("2026-01-%02d", 1+i%9)))(t)
		rows[i]["at"], rows[i]["utc"] = rows[i]["day"], rows[i]["day"]
	}
	events := newShelf(t, filepath.Join(dir, "events"), filepath.Join(dir, "events"), events(), layouts()["identity"], nil)
	events.append(rows)
	self := must.Get(os.Executable())(t)
	must.Do(t, os.WriteFile(filepath.Join(bin, "ufs-iceberg"), []byte("#!/bin/sh\n"+asProgram+"=1 exec '"+self+"' \"$@\"\n"), 0o755))
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("running the README's commands: %v\n%s", err, out)
	}
	for _, want := range []string{"t.plan.json: 9 of 9 data files", "t.plan.json: 5 of 9 data files"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("without %q:\n%s", want, out)
		}
	}
}
