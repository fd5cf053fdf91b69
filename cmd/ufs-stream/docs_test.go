package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
)

// TestDocs runs the console commands of the README and the docs in order, each page in an empty folder and with an S3
// server with an empty bucket "lake". It compares their output with the page; a line "…" stands for further output.
// Blocks with the name of a file, as "```csv costs.csv", are files in the folder from the start. Python and YAML on the page are
// tested after the commands.
// With UFS_UPDATE_GOLDEN=1 it writes the output into the page: into a block that ends with "…" as many lines as the
// block has, and into an empty block none.
func TestDocs(t *testing.T) {
	readme := read(t, "../../README.md")
	for _, command := range []string{"go run ./cmd/ufs-stream demo", "go test -timeout 30m ./..."} {
		if !strings.Contains(readme, "\n    "+command+"\n") {
			t.Errorf("the README must open with %q", command)
		}
	}
	for page, least := range map[string]int{"README.md": 8, "docs/agents.md": 1, "docs/first-hour.md": 8, "docs/lakes.md": 12, "docs/methods.md": 6, "docs/recipes.md": 12} {
		t.Run(page, func(t *testing.T) {
			path, err := filepath.Abs(filepath.Join("../..", page))
			if err != nil {
				t.Fatalf("making the path absolute: %v", err)
			}
			text := read(t, path)
			t.Chdir(t.TempDir())
			t.Setenv("AWS_ENDPOINT_URL_S3", storetest.S3(t).Endpoint)
			for _, file := range namedBlocks.FindAllStringSubmatch(text, -1) {
				if err := os.MkdirAll(filepath.Dir(file[1]), 0o777); err != nil {
					t.Fatalf("making a folder: %v", err)
				}
				write(t, file[1], file[2])
			}
			shown := 0
			made := consoles.ReplaceAllStringFunc(text, func(block string) string {
				inside, _ := strings.CutSuffix(strings.TrimPrefix(block, "```console\n"), "```")
				out := "```console\n"
				for _, example := range strings.Split("\n"+inside, "\n$ ")[1:] {
					shown++
					out += "$ " + runsAsShown(t, example)
				}
				return out + "```"
			})
			if shown < least {
				t.Errorf("only %d commands found", shown)
			}
			checkListings(t, path)
			if made != text && os.Getenv("UFS_UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(path, []byte(made), 0o666); err != nil {
					t.Fatalf("writing the page: %v", err)
				}
			}
		})
	}
}

var (
	consoles    = regexp.MustCompile("(?s)```console\n.*?```")
	namedBlocks = regexp.MustCompile("(?s)```[a-z]+ (\\S+)\n(.*?)```")
)

// runsAsShown runs a command that stands above what a page shows of its output, and returns both as
// they should be.
func runsAsShown(t *testing.T, example string) string {
	line, want, _ := strings.Cut(example, "\n")
	args := words(line)
	if args[0] != "ufs-stream" {
		t.Fatalf("%s: not a command of ufs-stream", line)
	}
	got := strings.Trim(must(t, args[1:]...), "\n")
	want = strings.Trim(want, "\n")
	head, open := strings.CutSuffix(want, "…")
	if lines := strings.SplitAfter(got, "\n"); open && len(lines) > strings.Count(head, "\n") {
		got = strings.Join(lines[:strings.Count(head, "\n")], "") + "…"
	}
	switch {
	case want == "":
		return line + "\n"
	case got != want && os.Getenv("UFS_UPDATE_GOLDEN") == "":
		t.Errorf("%s prints\n%s\nbut the page shows\n%s", line, got, want)
	}
	return line + "\n" + got + "\n"
}

// words are those of a command line; single quotes keep blanks together.
func words(line string) (list []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	return list
}
