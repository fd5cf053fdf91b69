package atomicfile

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// CheckNotInput refuses an output that would replace one of its inputs, even under another name, with a
// *stream.UsageError. Local files are compared by identity and objects by URL; if two URLs may lead to one
// object in two ways, such as two names of a server, the object's version decides.
func CheckNotInput(ctx context.Context, path string, inputs ...string) error {
	onlyPath := func(yield func(string) bool) { yield(path) }
	if place.IsURL(path) {
		return noObjectIsInput(ctx, path, onlyPath, inputs)
	}
	return checkLocalNotInput(onlyPath, inputs)
}

// CheckNoneIsInput is CheckNotInput for the files of these names below a folder.
func CheckNoneIsInput(ctx context.Context, folder string, names iter.Seq[string], inputs []string) error {
	paths := func(yield func(string) bool) {
		for name := range names {
			if !yield(place.JoinBelow(folder, name)) {
				return
			}
		}
	}
	if place.IsURL(folder) {
		return noObjectIsInput(ctx, folder, paths, inputs)
	}
	if local, err := place.LocalPath(folder); err == nil {
		if _, err := os.Stat(local); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	return checkLocalNotInput(paths, inputs)
}

// ErrReplacesInput returns the error of [CheckNotInput] for an output at path.
func ErrReplacesInput(path string) error {
	return stream.Usagef("{o} %s: the output would replace the input", place.DisplayName(path))
}

// checkLocalNotInput is CheckNotInput for local files. Most outputs do not exist yet; then it examines no input.
func checkLocalNotInput(paths iter.Seq[string], inputs []string) error {
	var existing []os.FileInfo
	var names []string
	for path := range paths {
		local, err := place.LocalPath(path)
		if err != nil {
			return err
		}
		if info, err := os.Stat(local); err == nil && info.Mode().IsRegular() {
			existing, names = append(existing, info), append(names, local)
		}
	}
	if len(existing) == 0 {
		return nil
	}
	for _, in := range inputs {
		local, err := place.LocalPath(in)
		if err != nil || place.IsURL(in) {
			continue
		}
		info, err := os.Stat(local)
		if err != nil {
			continue
		}
		if i := slices.IndexFunc(existing, func(out os.FileInfo) bool { return os.SameFile(info, out) }); i >= 0 {
			return ErrReplacesInput(names[i])
		}
	}
	return nil
}

// noObjectIsInput is CheckNotInput for objects at or below folder. There may be a million inputs, whose URLs take a
// while to parse: it parses only URLs that share a key with an output.
func noObjectIsInput(ctx context.Context, folder string, urls iter.Seq[string], inputs []string) error {
	near := slices.DeleteFunc(slices.Clone(inputs), func(in string) bool {
		below := func(key string) bool { return strings.HasPrefix(key, bareKey(folder)) }
		return !place.IsURL(in) || !slices.ContainsFunc(possibleKeys(in), below)
	})
	if len(near) == 0 {
		return nil
	}
	outputs := map[string][]string{}
	for u := range urls {
		outputs[bareKey(u)] = append(outputs[bareKey(u)], u)
	}
	w := objectComparer{client: store.New(store.Options{}), folder: folder}
	for _, in := range near {
		for _, key := range possibleKeys(in) {
			for _, out := range outputs[key] {
				same, err := w.sameObject(ctx, out, in)
				if err != nil {
					return err
				}
				if same {
					return ErrReplacesInput(out)
				}
			}
		}
	}
	return nil
}

func bareKey(u string) string {
	_, rest, _ := strings.Cut(u, "://")
	rest, _, _ = strings.Cut(rest, "?")
	_, key, _ := strings.Cut(rest, "/")
	return key
}

// objectComparer decides whether two URLs name one object.
type objectComparer struct {
	client             *store.Client
	folder             string // of the outputs, or the one output
	hasListed, isEmpty bool   // whether folder was listed, and whether it contains no objects
}

// possibleKeys returns the store keys that a URL may mean: a web address may be that of a store, with the
// bucket, or more, before the key.
func possibleKeys(in string) []string {
	key := bareKey(in)
	if scheme, _, _ := strings.Cut(in, "://"); scheme != "https" && scheme != "http" {
		return []string{key}
	}
	if plain, err := url.PathUnescape(key); err == nil {
		key = plain
	}
	keys := []string{key}
	for rest, ok := key, true; ok; {
		if _, rest, ok = strings.Cut(rest, "/"); ok {
			keys = append(keys, rest)
		}
	}
	return keys
}

func (w *objectComparer) sameObject(ctx context.Context, out, in string) (bool, error) {
	if place.IsSameObject(out, in) {
		return true, nil
	}
	x, err := store.Parse(out)
	if err != nil {
		return false, err
	}
	y, err := store.Parse(in)
	if err != nil || !y.IsWeb() && (x.Scheme != y.Scheme || x.Bucket != y.Bucket || x.Key != y.Key) {
		return false, err
	}
	if !w.hasListed {
		location, err := store.Parse(w.folder)
		if err != nil {
			return false, err
		}
		w.hasListed, w.isEmpty = true, true
		for _, err := range w.client.List(ctx, location) {
			w.isEmpty = errors.Is(err, store.ErrNotExist) // after any other error both objects are examined
			break
		}
	}
	if w.isEmpty {
		return false, nil
	}
	var seen [2]store.Object
	for i, l := range []store.Location{x, y} {
		switch seen[i], err = w.client.Stat(ctx, l); {
		case errors.Is(err, store.ErrNotExist):
			return false, nil
		case err != nil:
			return false, asOutputError(x.PublicName(), err)
		}
	}
	// A web server gives no generation of an object, which is its version for gs://.
	return seen[0].Size == seen[1].Size && (seen[0].Version == seen[1].Version || x.Scheme == "gs" && y.IsWeb()), nil
}
