//go:build unix

package listing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
)

// Links to folders are followed if they are named, and ** follows none: two links to their own folder make endless
// paths.
func TestExpandLinks(t *testing.T) {
	chunkiotest.WriteTree(t, "d/x.parquet", "d/up -> .", "d/again -> .", "link -> d", "links/only -> ../d", "files/x.parquet -> ../d/x.parquet")
	for args, want := range map[string]string{
		"d": "d/x.parquet", "link": "link/x.parquet", "link/": "link/x.parquet", "links/*": "links/only/x.parquet",
		"d/**/*.parquet": "d/x.parquet", "files/**": "files/x.parquet", "d/up/x.parquet": "d/up/x.parquet",
	} {
		if got, err := expand(t, args); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v, want %s", args, got, err, want)
		}
	}
	for args, says := range map[string]string{"d/*/x.parquet": "the same file", "d/u*/a*/x.parquet d": "the same file", "links": "no data files"} {
		if _, err := expand(t, args); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("expanding %s: %v, want a DataError about %q", args, err, says)
		}
	}
}

// A list that names itself, or one that names it back, is refused as a nested list.
func TestListsDoNotNest(t *testing.T) {
	chunkiotest.WriteTree(t, "@file.parquet")
	for name, line := range map[string]string{"self": "@self", "there": "@back", "back": "@there", "fine": "@file.parquet"} {
		formattest.Must(t, os.WriteFile(name, []byte(line+"\n"), 0o600))
	}
	for _, list := range []string{"@self", "@there", "@back"} {
		if _, err := expand(t, list); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "lists do not nest") {
			t.Errorf("expanding %s: %v, want a DataError that lists do not nest", list, err)
		}
	}
	if got, err := expand(t, "@fine"); err != nil || !slices.Equal(got, []string{"@file.parquet"}) {
		t.Errorf("a file whose name begins with @: %q, %v", got, err)
	}
	list := opening.NewAccess(settings.WithDefaults(settings.Options{Memory: 5}))
	if _, err := listing.ExpandInputs(t.Context(), list, []string{"@self"}); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "memory-limit") {
		t.Errorf("a list longer than the memory: %v", err)
	}
}

// TestListOfManyLines: the memory of the lines of a list counts, which is more than its text, and reading them ends
// with the context. A list of 100 MB took 2.3 GiB of 200 MiB, and heard no Ctrl-C for a minute.
func TestListOfManyLines(t *testing.T) {
	t.Chdir(t.TempDir())
	formattest.Must(t, os.WriteFile("many", bytes.Repeat([]byte("a\n"), 1<<20), 0o600))
	opt := settings.WithDefaults(settings.Options{Memory: 32 << 20})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := listing.ExpandListArgument(t.Context(), opening.NewAccess(opt), "@many")
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "memory-limit") || took > uint64(opt.Memory) {
		t.Errorf("a list of a million lines: %v after %d bytes, want a refusal within %d", err, took, opt.Memory)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := listing.ExpandListArgument(ctx, opening.NewAccess(settings.WithDefaults(settings.Options{Memory: 1 << 30})), "@many"); !errors.Is(err, context.Canceled) {
		t.Errorf("a list that is read when the context has ended: %v, want %v", err, context.Canceled)
	}
}

// TestFilesNamedLikeLists: a file that a shell found by a glob is read itself, and not as the list that its name
// could mean. An argument is a list only if no file has its name.
func TestFilesNamedLikeLists(t *testing.T) {
	chunkiotest.WriteTree(t, "@x.parquet", "y.parquet", "outside/z.parquet", "@d/in.parquet", "@d/x.parquet", "@link.parquet -> y.parquet", "@gone.parquet -> nowhere",
		"sub/@x.parquet", "@e/day=1/p.parquet", "@only.parquet")
	for name, lines := range map[string]string{
		"x.parquet": "outside/z.parquet", "d": "outside/z.parquet", "link.parquet": "outside/z.parquet", "gone.parquet": "outside/z.parquet",
		"list": "@x.parquet\ny.parquet", "globs": "@x*\n@d", "nested": "@list", "@both": "y.parquet", "both": "outside/z.parquet", "e": "@x.parquet",
	} {
		formattest.Must(t, os.WriteFile(name, []byte(lines+"\n"), 0o600))
	}
	for _, c := range []struct{ args, want, warned string }{
		{"@x.parquet", "@x.parquet", "@x.parquet is read"},
		{"@only.parquet", "@only.parquet", ""},
		{"./@x.parquet", "./@x.parquet", ""},
		{"sub/@x.parquet", "sub/@x.parquet", ""},
		{"@./x.parquet", "outside/z.parquet", ""},
		{"@x.parquet @link.parquet", "@link.parquet @x.parquet", "@x.parquet is read"}, // once
		{"@*.parquet", "", ""},                                                         // if nothing matches, the shell keeps the argument: the list *.parquet
		{"*x.parquet", "@x.parquet x.parquet", ""},
		{"@gone.parquet", "", ""}, // a link to nothing, and not the list gone.parquet
		{"@d", "@d/in.parquet @d/x.parquet", "@d is read"},
		{"@d/", "@d/in.parquet @d/x.parquet", ""},
		{"@d/x.parquet", "@d/x.parquet", ""},
		{"@?/*.parquet", "", ""},
		{"@e", "@e/day=1/p.parquet", "@e is read"},
		{"@both", "@both", "@both is read"},
		{"@list", "@x.parquet y.parquet", ""},
		{"@globs", "@d/in.parquet @d/x.parquet @x.parquet", ""},
		{"@nested", "", ""},
	} {
		list, err := listing.ExpandInputs(t.Context(), opening.NewAccess(settings.WithDefaults(settings.Options{})), strings.Fields(c.args))
		if err != nil {
			if c.want != "" || !chunkiotest.IsData(err) {
				t.Errorf("%s: %v, want %q", c.args, err, c.want)
			}
			continue
		}
		got := strings.Join(list.Paths(), " ")
		warned := ""
		for _, w := range list.Warnings {
			warned += w.String()
		}
		if got != c.want || !strings.HasPrefix(warned, c.warned) || strings.Count(warned, "is read as") != min(1, len(c.warned)) {
			t.Errorf("%s: %q, warned %q; want %q, warned %q", c.args, got, warned, c.want, c.warned)
		}
	}
}

// deepName is long enough that paths end after a few of it.
var deepName = strings.Repeat("d", 60)

// deepTree makes folders in one another below the working directory, deeper than any path reaches, and takes
// them away in the end, which nothing can that goes by paths.
func deepTree(t testing.TB, depth int) {
	t.Helper()
	at := unix.AT_FDCWD
	for range depth {
		formattest.Must(t, unix.Mkdirat(at, deepName, 0o700))
		next, err := unix.Openat(at, deepName, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		formattest.Must(t, err)
		if at >= 0 {
			unix.Close(at)
		}
		at = next
	}
	t.Cleanup(func() { // from the end
		for range depth {
			above, err := unix.Openat(at, "..", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
			formattest.Must(t, err)
			unix.Close(at)
			formattest.Must(t, unix.Unlinkat(above, deepName, unix.AT_REMOVEDIR))
			at = above
		}
		unix.Close(at)
	})
}

// A tree deeper than paths can be is refused with the place at which that begins, and is not searched in part.
func TestExpandDeep(t *testing.T) {
	dir := t.TempDir()
	if shm, err := os.MkdirTemp("/dev/shm", "ufs-deep"); err == nil { // much faster in memory than on a disk
		t.Cleanup(func() { os.Remove(shm) })
		dir = shm
	}
	t.Chdir(dir)
	deepTree(t, 10_000)
	for _, args := range []string{deepName, deepName + "/**/*.parquet", "**"} {
		_, err := expand(t, args)
		if !chunkiotest.IsData(err) || !errors.Is(err, unix.ENAMETOOLONG) || !strings.Contains(err.Error(), deepName+"/"+deepName) {
			t.Errorf("expanding %s: %.100v, want a DataError with the name that is too long", args, err)
		}
	}
}

// Looking through folders ends with the context.
func TestExpandEnds(t *testing.T) {
	chunkiotest.WriteTree(t, "d/x.parquet", "d/sub/y.parquet")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, arg := range []string{"d", "d/**", "*/*.parquet"} {
		if got, err := listing.ExpandInputs(ctx, opening.NewAccess(settings.WithDefaults(settings.Options{})), []string{arg}); !errors.Is(err, context.Canceled) {
			t.Errorf("expanding %s after a cancellation: %v, %v, want %v", arg, got, err, context.Canceled)
		}
	}
}

// Many files cost a listing, and no more.
func TestExpandMany(t *testing.T) {
	const files = 2000
	t.Chdir(t.TempDir())
	formattest.Must(t, os.Mkdir("d", 0o700))
	for i := range files {
		formattest.Must(t, os.WriteFile(fmt.Sprintf("d/part-%05d.parquet", i), nil, 0o600))
	}
	for _, args := range []string{"d", "d/*", "d/**/*.parquet"} {
		if got, err := expand(t, args); err != nil || len(got) != files || !slices.IsSorted(got) {
			t.Errorf("%s: %d files, %v", args, len(got), err)
		}
	}
}
