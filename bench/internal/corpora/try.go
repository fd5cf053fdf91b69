package corpora

import (
	"cmp"
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/app/recipe"
	"github.com/ufs-stream/ufs-stream/stream"
)

// outcome is the way in which a run of ufs-stream on a file ended.
type outcome string

const (
	wasRead outcome = "read"
	refused outcome = "refused" // with an error that names the fault of the file, or a thing that does not exist
	failed  outcome = "error"   // a panic, a signal, an internal fault, or an error message of Go's runtime
	hung    outcome = "hang"    // the deadline ended the run
)

// attempt is one run of ufs-stream on a file.
type attempt struct {
	outcome outcome
	code    int
	message string // without the program's name and the file's path
}

// goRuntimeWords matches words in messages of Go's runtime and packages, which must not reach users.
var goRuntimeWords = regexp.MustCompile(`panic: |fatal error: |runtime error|internal fault|goroutine \d|nil pointer|slice bounds|interface conversion|reflect[.:]|strconv\.|0xc000`)

func (r *run) tryVerb(ctx context.Context, f file, verb string, flags ...string) (attempt, error) {
	within, cancel := context.WithTimeout(ctx, r.giveUp)
	defer cancel()
	_, _, err := workshop.RunChild(within, r.shop.Program, append([]string{verb, f.path, "--quiet"}, flags...)...)
	if ctx.Err() != nil {
		return attempt{}, ctx.Err()
	}
	var child *workshop.ChildError
	switch {
	case err == nil:
		return attempt{outcome: wasRead}, nil
	case !errors.As(err, &child):
		return attempt{}, err
	case child.TimedOut:
		return attempt{hung, child.Code, "no end after " + r.giveUp.String()}, nil
	}
	return classifyFailure(child.Code, child.Stderr, f.path), nil
}

func classifyFailure(code int, errorOutput, path string) attempt {
	errorOutput = strings.TrimSpace(errorOutput)
	a := attempt{failed, code, errorOutput[strings.LastIndexByte(errorOutput, '\n')+1:]}
	for _, prefix := range []string{"ufs-stream: ", path + ": "} {
		a.message = strings.TrimPrefix(a.message, prefix)
	}
	a.message = strings.ReplaceAll(a.message, path, "FILE")
	switch {
	case goRuntimeWords.MatchString(errorOutput):
		if !goRuntimeWords.MatchString(a.message) { // the last line is part of a stack trace; find the line with the error
			at := goRuntimeWords.FindStringIndex(errorOutput)[0]
			a.message, _, _ = strings.Cut(errorOutput[strings.LastIndexByte(errorOutput[:at], '\n')+1:], "\n")
		}
	case code == exit.Usage || code == exit.Data || code == exit.Memory:
		a.outcome = refused
	}
	a.message = cmp.Or(a.message, "it said nothing")
	return a
}

func (r *run) tryFile(ctx context.Context, f file, copyPath string) (reading, copying attempt, err error) {
	if reading, err = r.tryVerb(ctx, f, "inspect", "--scan", "--times", "--format", "csv"); err != nil {
		return reading, copying, err
	}
	if err := os.RemoveAll(copyPath); err != nil {
		return reading, copying, err
	}
	copying, err = r.tryVerb(ctx, f, "convert", "--output", copyPath)
	return reading, copying, err
}

// reading is the content of a file as ufs-stream reads it.
type reading struct {
	rows    int64
	leaves  []leaf // the features, in order
	leftOut []stream.LeftOut
}

// leaf is a feature with all its values. A missing value is a NaN that encodes its kind, see [stream.MissingValue].
type leaf struct {
	stream.Column
	values []float64
}

// readOptions returns options with which every leaf that can be a feature is read as one feature. A date or time is one
// number. Its positions in the day, the week and the year are not needed, because they derive from this number.
func readOptions() chunkio.Options { return chunkio.Options{Missing: stream.MissingKeep, Times: true} }

func readFile(ctx context.Context, path string) (*reading, error) {
	src, err := chunkio.Open(ctx, []string{path}, readOptions())
	if err != nil {
		return nil, err
	}
	defer src.Close()
	r := &reading{rows: src.Rows(), leftOut: src.LeftOut()}
	opt := readOptions()
	opt.LeaveOut = r.leftOut
	if src, err = src.With(opt); err != nil {
		return nil, err
	}
	for _, c := range src.Columns() {
		r.leaves = append(r.leaves, leaf{Column: c})
	}
	if len(r.leaves) > 0 && r.rows != 0 {
		rows := int64(0)
		for c, err := range src.Chunks(ctx, stream.Range{}) {
			if err != nil {
				return nil, err
			}
			for j := range r.leaves {
				r.leaves[j].values = append(r.leaves[j].values, c.Col(j)...)
			}
			rows += int64(len(c.Col(0)))
		}
		r.rows = rows // the number of rows of a stream is unknown until it ends
	}
	r.leaves = slices.DeleteFunc(r.leaves, func(l leaf) bool { return l.Block != "" && l.Name != l.Block })
	return r, nil
}

func (r *reading) locateLeaves(ctx context.Context, path string) ([]recipe.Column, error) {
	opt := chunkio.ApplyOptions{Times: true}
	for _, l := range r.leaves {
		opt.Columns = append(opt.Columns, l.Name)
	}
	located, err := chunkio.Locate(ctx, []string{path}, opt)
	if err != nil {
		return nil, err
	}
	places := make([]recipe.Column, len(r.leaves))
	for i, p := range located.Columns {
		places[i] = recipe.Column{Name: p.Name, Path: p.Path, Element: p.Element}
	}
	return places, nil
}
