package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/app/shell"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	want "github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// completer is a shell that completes, by its own program and rules.
type completer struct {
	name, setup string
	argv        []string
}

var completers = []completer{
	{"bash", "source /usr/share/bash-completion/bash_completion; source <(ufs-stream completion bash)", []string{"--norc", "--noprofile", "-i"}},
	{"zsh", "autoload -U compinit; compinit -u -D; source <(ufs-stream completion zsh)", []string{"-f", "-i"}},
	{"fish", "ufs-stream completion fish | source", []string{"--no-config", "-i"}},
}

// typist types at a terminal on which a shell runs.
type typist struct {
	outer *os.File
	mu    sync.Mutex
	seen  strings.Builder
}

// newTypist starts the shell in a folder, with this program as ufs-stream; or skips the test where there is no such shell.
func newTypist(t *testing.T, s completer, dir string) *typist {
	t.Helper()
	program, err := exec.LookPath(s.name)
	if err != nil {
		t.Skipf("there is no %s here: install zsh, fish and bash-completion to test how they complete", s.name)
	}
	if _, err := os.Stat("/usr/share/bash-completion/bash_completion"); err != nil && s.name == "bash" {
		t.Skip("there is no bash-completion here: install it to test how bash completes")
	}
	bin := t.TempDir()
	want.Do(t, os.Symlink(want.Get(os.Executable())(t), filepath.Join(bin, "ufs-stream")))
	outer, inner := terminal(t)
	cmd := exec.CommandContext(t.Context(), program, s.argv...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asProgram+"=1", "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+t.TempDir(), "TERM=dumb", "LC_ALL=C.UTF-8", "HISTFILE=")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inner, inner, inner
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	want.Do(t, cmd.Start())
	want.Do(t, inner.Close())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // may have ended
		_ = cmd.Wait()         // ends by the kill
	})
	y := &typist{outer: outer}
	go func() {
		for buf := make([]byte, 1<<16); ; {
			n, err := outer.Read(buf)
			y.mu.Lock()
			y.seen.Write(buf[:n])
			y.mu.Unlock()
			if err != nil { // the shell has ended
				return
			}
		}
	}()
	y.enter(t, s.setup)
	return y
}

// enter types keys, ends the line, and returns what the terminal showed until the shell was ready again.
func (y *typist) enter(t *testing.T, keys string) string {
	t.Helper()
	const ready = "the shell is ready"
	y.mu.Lock()
	from := y.seen.Len()
	y.mu.Unlock()
	want.Get(y.outer.WriteString(keys + "\r" + "printf 'the %s is ready\\n' shell\r"))(t)
	for range 15_000 {
		time.Sleep(2 * time.Millisecond)
		y.mu.Lock()
		said := y.seen.String()[from:]
		y.mu.Unlock()
		if strings.Contains(said, ready) {
			return said
		}
	}
	t.Fatalf("the shell does not come to an end of %q:\n%s", keys, y.seen.String()[from:])
	return ""
}

// words types a line with keys that complete, and returns the words that the shell takes it for in the end.
func (y *typist) words(t *testing.T, keys string) []string {
	t.Helper()
	const toBegin = "\x01"
	said := y.enter(t, keys+toBegin+`printf '<%s>\n' `)
	var words []string
	for _, line := range strings.Split(strings.ReplaceAll(said, "\r", "")+"\n", "\n<")[1:] {
		word, _, _ := strings.Cut(line+"\n", ">\n")
		words = append(words, word)
	}
	return words
}

// TestCompletionRunsNothing: whatever the names of columns and files are, completing them runs nothing, makes no file,
// and puts only plain names of columns on the line.
func TestCompletionRunsNothing(t *testing.T) {
	commands := []string{"`touch${IFS}ran`", "$(touch${IFS}ran)", "(touch ran)", ";touch${IFS}ran;", "&touch ran&", "|touch ran|", ">ran", "<(touch ran)", "=(touch ran)",
		"'$(touch ran)'", "~", "*", "\x1b[31m", "a\u202eb", "!!", "a b", "#", "{touch,ran}", "\\"}
	for _, s := range completers {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel() // much of it waits
			dir := t.TempDir()
			names := strings.Split("fine_a,fine_b,größe_x,größe_y", ",")
			for _, c := range commands {
				names = append(names, c+"a", c+"b")
			}
			table := columnsFile(t, filepath.Join(t.TempDir(), "table.parquet"), names, slices.Repeat([][]float64{{1, 2}}, len(names))...)
			var files []string
			for i, command := range slices.Concat(commands, []string{"\ntouch ran\n", " --output=ran"}) {
				if strings.Contains(command, "/") {
					continue
				}
				files = append(files, fmt.Sprintf("f%c%s.parquet", 'a'+i, command))
				want.Do(t, os.Link(table, filepath.Join(dir, files[i])))
			}
			y := newTypist(t, s, dir)
			looks := func(what string) {
				t.Helper()
				for _, now := range want.Get(os.ReadDir(dir))(t) {
					if !slices.Contains(files, now.Name()) {
						t.Errorf("%q made the file %q", what, now.Name())
						want.Do(t, os.Remove(filepath.Join(dir, now.Name())))
					}
				}
			}
			for i, file := range files {
				if !long.TakesCase(i, 3) {
					continue
				}
				keys := fmt.Sprintf("ufs-stream select f%c\t --columns fine\ta", 'a'+i)
				words := y.words(t, keys)
				looks(keys)
				if len(words) != 5 || words[2] != file || words[4] != "fine_a" && !strings.ContainsAny(file, "\n\x1b\u202e") {
					t.Errorf("%q became %q, want the file %q and the column fine_a", keys, words, file)
				}
			}
			for _, begun := range []string{"", "fi", "gr", "fine_a,", "fine_a,gr", "\\`", "\\$", "\\=", "'#'", "\\&t"} {
				keys := fmt.Sprintf("ufs-stream select %s --columns %s\t\t", shell.Quote(files[11]), begun)
				words := y.words(t, keys)
				looks(keys)
				literal := strings.TrimPrefix(strings.Trim(begun, "'"), `\`) // nothing begins like this, and it stays
				switch {
				case begun == "" && len(words) == 4: // all names have nothing in common
				case len(words) != 5 || words[4] != literal && !shell.IsPlain(words[4]):
					t.Errorf("%q became %q, want a plain name, or %q again", keys, words, literal)
				}
			}
		})
	}
}
