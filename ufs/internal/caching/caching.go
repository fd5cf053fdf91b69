package caching

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/scanning"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// uncachedError is the reason why a request reads its input as without a cache.
type uncachedError struct{ stream.Text }

func (e *uncachedError) Error() string { return e.String() }

func uncachedf(format string, args ...any) error {
	return &uncachedError{stream.Textf(format, args...)}
}

// Answer calls use with q, or with a request for the statistics of q's input that q.Cache keeps.
func Answer(ctx context.Context, q request.Request, use func(request.Request) error) error {
	if q.Cache == "" || q.Stats != "" || q.Input.IsEmpty() {
		return use(q)
	}
	file, err := nameFile(ctx, &q)
	if err == nil {
		err = answerFromFile(ctx, &q, file, use)
	}
	if why, ok := errors.AsType[*uncachedError](err); ok {
		sayf(&q, "{cache} is not used: %v", why.Text)
		return use(q)
	}
	return err
}

func sayf(q *request.Request, format string, args ...any) {
	if q.Hooks.Say != nil {
		q.Hooks.Say(stream.Textf(format, args...))
	}
}

// statsFile is the place of the statistics of an input.
type statsFile struct {
	scan         scanning.ScanRequest // makes the file
	path, family string               // the name begins with family for all states of the input
	state        chunkio.State
}

func nameFile(ctx context.Context, q *request.Request) (f statsFile, err error) {
	if f.scan, err = newScan(*q); err != nil {
		return f, err
	}
	if f.state, err = findState(ctx, q); err != nil {
		return f, err
	}
	paths := make([]string, len(q.Input.Paths))
	for i, path := range q.Input.Paths {
		paths[i] = path
		if local, err := place.AbsolutePath(path); err == nil && !strings.Contains(path, "://") {
			paths[i] = local
		}
	}
	c := &f.scan.Choice
	version := "newest"
	if q.Input.Version != nil {
		version = fmt.Sprint(*q.Input.Version)
	}
	family := digestOf(paths, f.scan.ProfileOnly, c.Method, c.Options, methods.Names(c.Methods), request.ListOptions(&f.scan.Request, request.ShapesStatistics), version, q.Input.AsOf)
	folder := q.Cache
	f.family = "cache-" + family[:16] + "-"
	if q.Cache == request.CacheBeside {
		if strings.Contains(paths[0], "://") || paths[0] == "-" {
			return f, uncachedf("beside is for local files; name a folder, which may be in the store too")
		}
		for folder = filepath.Dir(paths[0]); strings.ContainsAny(folder, "*?[{"); {
			folder = filepath.Dir(folder)
		}
		f.family = "." + f.family // hidden, so that it is no input
	}
	f.path = place.JoinBelow(folder, f.family+digestOf(family, request.Release, f.state.Digest)[:24]+".ufs")
	return f, nil
}

func digestOf(values ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", values)) // with the keys of maps in order
	return hex.EncodeToString(sum[:])
}

func newScan(q request.Request) (scan scanning.ScanRequest, err error) {
	switch {
	case q.Input.Plan != "":
		return scan, uncachedf("a {plan} names the files as they were")
	case q.SkipBad:
		return scan, uncachedf("{on-error} skip-file leaves out files that may be read next time")
	case q.Choice.Sketch != "" || q.Choice.Reads > 0:
		return scan, uncachedf("a {sketch} needs the rows again")
	case q.Choice.Options["anchors-file"] != nil:
		return scan, uncachedf("{anchors-file} names a file that may change")
	}
	list := q.Choice.Methods
	if len(list) == 0 {
		list = methods.All()
	}
	// Methods on the Gram matrix share the default scan, unless they have options for it.
	choice := request.Choice{Methods: q.Choice.Methods, Stability: q.Choice.Stability, Seed: cmp.Or(q.Choice.Seed, 1)}
	if q.Choice.Scale == request.ScaleRank {
		choice.Scale = request.ScaleRank
	}
	spec, err := methods.Find(list, q.Choice.Method)
	switch {
	case q.Choice.Method != "" && err != nil:
		return scan, err
	case err == nil && spec.From == method.FromProfile:
		scan.ProfileOnly = true
	case spec.From.UsesRows():
		return scan, uncachedf("method %s iterates over the rows", spec.Name)
	case spec.From.UsesGraph() && request.ExcludesSuspects(&q):
		return scan, uncachedf("{auto-exclude} and {max-missing} leave out columns of rows whose graph is known already")
	case spec.From.UsesGraph():
		choice.Method, choice.Options, choice.Scale = spec.Name, make(method.Settings), q.Choice.Scale
		for _, option := range []string{"anchors", "anchor-method", "neighbors"} { // no other shapes the graph
			if value := q.Choice.Options[option]; value != nil {
				choice.Options[option] = value
			}
		}
	case (q.Choice.Method == "" || spec.Takes.Sample) && len(q.Choice.Options) > 0:
		choice.Options = q.Choice.Options
	}
	scan.Request = q
	scan.Cache, scan.Choice, scan.Columns.AutoExclude, scan.Columns.MaxMissing = "", choice, false, 0
	scan.Columns.Missing = cmp.Or(q.Columns.Missing, request.MissingMean)
	return scan, nil
}

// settleTime is the age from which the time of a change identifies the contents of a local file: a file system may give
// two changes within this time the same one.
const settleTime = 2 * time.Second

func findState(ctx context.Context, q *request.Request) (s chunkio.State, err error) {
	opt := request.NewReadOptions(q)
	if opt.Note = nil; q.Limits.Memory > 0 {
		opt.Memory = max(q.Limits.Memory-budget.ProgramBytes, 1)
	}
	s, err = chunkio.FindState(ctx, q.Input.Paths, opt)
	switch {
	case errors.Is(err, chunkio.ErrNoState):
		return s, uncachedf("%w", err)
	case err == nil && time.Since(s.Newest) < settleTime:
		return s, uncachedf("a file changed less than %v ago, so that its time cannot show a further change", settleTime)
	}
	return s, err
}

func answerFromFile(ctx context.Context, q *request.Request, f statsFile, use func(request.Request) error) error {
	name := place.DisplayName(f.path)
	_, isThere, err := chunkio.FindStatsHeader(ctx, f.path, budget.DocumentOptions(q))
	if err == nil && isThere {
		sayf(q, "{cache}: %s has the statistics of these files, so no row is read", name)
		err = use(requestForStats(*q, f.path))
	}
	damaged, isDamaged := errors.AsType[*stream.DataError](err)
	switch {
	case isDamaged && !stream.Temporary(err) && damaged.Path == name:
		sayf(q, "{cache}: %s is made again: %v", name, err)
	case err == nil && !isThere:
	default:
		return uncachedIfUsage(err)
	}
	if err := makeFile(ctx, q, f); err != nil {
		return err
	}
	return uncachedIfUsage(use(requestForStats(*q, f.path)))
}

func uncachedIfUsage(err error) error {
	if errors.As(err, new(*stream.UsageError)) { // of the input itself, the request may be right
		return uncachedf("%w", err)
	}
	return err
}

// requestForStats returns q for the statistics at path, which were scanned with the options of q about rows and
// columns.
func requestForStats(q request.Request, path string) request.Request {
	q.Stats, q.Cache = path, ""
	q.Input = request.Input{Stdin: q.Input.Stdin, Anonymous: q.Input.Anonymous, Allow: q.Input.Allow}
	q.Columns = request.Columns{Missing: q.Columns.Missing, Label: q.Columns.Label, MaxMissing: q.Columns.MaxMissing, AutoExclude: q.Columns.AutoExclude}
	return q
}

func makeFile(ctx context.Context, q *request.Request, f statsFile) error {
	if !place.IsURL(f.path) {
		if err := os.MkdirAll(filepath.Dir(f.path), 0o777); err != nil {
			return &stream.OutputError{Path: filepath.Dir(f.path), Err: err, Remedy: stream.Textf("choose another {cache}")}
		}
	}
	f.scan.Output = f.path
	_, err := scanning.ScanInput(ctx, f.scan)
	if err == nil {
		var now chunkio.State
		if now, err = findState(ctx, q); err == nil && now.Digest != f.state.Digest {
			err = uncachedf("the files changed while they were read")
		}
	}
	removeFiles(q, f, err != nil)
	switch {
	case errors.As(err, new(*stream.MemoryError)):
		return uncachedf("%w", err)
	case err == nil:
		sayf(q, "{cache}: made %s, with which later questions on these files read no row", place.DisplayName(f.path))
	}
	return uncachedIfUsage(err)
}

// removeFiles removes the local files of earlier states of the input, or that of the present state if its scan failed.
// Objects stay in their store.
func removeFiles(q *request.Request, f statsFile, isFailed bool) {
	if place.IsURL(f.path) {
		return
	}
	entries, _ := os.ReadDir(filepath.Dir(f.path)) // without a list nothing is removed, and files that stay do no harm
	for _, e := range entries {
		isOwn := e.Name() == filepath.Base(f.path)
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), f.family) || !strings.HasSuffix(e.Name(), ".ufs") || isOwn != isFailed {
			continue
		}
		path := filepath.Join(filepath.Dir(f.path), e.Name())
		if err := os.Remove(path); err == nil && !isOwn { // another run may have removed it
			sayf(q, "{cache}: %s is removed, because the files changed since it was made, or another version made it", path)
		}
	}
}
