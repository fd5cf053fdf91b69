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

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// CheckNotInput refuses, with a *stream.UsageError, an output that would replace one of the inputs, even under another
// name. Local files are compared by identity, and objects by URL. If different URLs may name the same object, for
// example by two names of a server, the versions of the objects are compared.
func CheckNotInput(ctx context.Context, path string, inputs ...string) error {
	onlyPath := func(yield func(string) bool) { yield(path) }
	if place.IsURL(path) {
		return checkObjectsNotInput(ctx, path, onlyPath, inputs)
	}
	return checkLocalNotInput(onlyPath, inputs)
}

// CheckNoneIsInput is CheckNotInput for several outputs, the files with the given names below a folder.
func CheckNoneIsInput(ctx context.Context, folder string, names iter.Seq[string], inputs []string) error {
	paths := func(yield func(string) bool) {
		for name := range names {
			if !yield(place.JoinBelow(folder, name)) {
				return
			}
		}
	}
	if place.IsURL(folder) {
		return checkObjectsNotInput(ctx, folder, paths, inputs)
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

// checkLocalNotInput is CheckNotInput for local outputs. If no output exists yet, as is usual, it examines no input.
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

// checkObjectsNotInput is CheckNotInput for objects at or below folder. Parsing the URLs of a million inputs would take
// long, so it parses only the URLs that may have the key of an output.
func checkObjectsNotInput(ctx context.Context, folder string, urls iter.Seq[string], inputs []string) error {
	near := slices.DeleteFunc(slices.Clone(inputs), func(in string) bool {
		below := func(key string) bool { return strings.HasPrefix(key, keyOfURL(folder)) }
		return !place.IsURL(in) || !slices.ContainsFunc(possibleKeys(in), below)
	})
	if len(near) == 0 {
		return nil
	}
	outputs := map[string][]string{}
	for u := range urls {
		outputs[keyOfURL(u)] = append(outputs[keyOfURL(u)], u)
	}
	w := objectComparer{client: store.New(store.Options{}), folder: folder}
	for _, in := range near {
		for _, key := range possibleKeys(in) {
			for _, out := range outputs[key] {
				same, err := w.isSameObject(ctx, out, in)
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

func keyOfURL(u string) string {
	_, rest, _ := strings.Cut(u, "://")
	rest, _, _ = strings.Cut(rest, "?")
	_, key, _ := strings.Cut(rest, "/")
	return key
}

// objectComparer decides whether two URLs name the same object.
type objectComparer struct {
	client             *store.Client
	folder             string // the folder of the outputs, or the only output
	hasListed, isEmpty bool   // folder was listed; it contains no objects
}

// possibleKeys returns the keys in a store that a URL may mean. A web address may lead to a store; its path then begins
// with the bucket, or with more, before the key.
func possibleKeys(in string) []string {
	key := keyOfURL(in)
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

func (w *objectComparer) isSameObject(ctx context.Context, out, in string) (bool, error) {
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
			w.isEmpty = errors.Is(err, store.ErrNotExist) // after any other error, the objects are compared
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
	// The version of an object in gs:// is its generation, which a web server does not report.
	return seen[0].Size == seen[1].Size && (seen[0].Version == seen[1].Version || x.Scheme == "gs" && y.IsWeb()), nil
}

// CheckWritable reports early that the file or object at path could not be written in the end. It also removes
// temporary files that killed runs have left for this file. Standard output ("" and "-") and devices count as writable.
func CheckWritable(ctx context.Context, path string) error {
	if path == "" || path == "-" || IsDevice(path) {
		return nil
	}
	if place.IsURL(path) {
		return checkUpload(ctx, path)
	}
	f, err := Create(ctx, path)
	if err != nil {
		return err
	}
	return f.Close()
}

// IsDevice reports whether path is a device, such as /dev/null, or a pipe. Output is written to the device itself,
// because no file can replace a device.
func IsDevice(path string) bool {
	path, err := place.LocalPath(path)
	if err != nil || place.IsURL(path) {
		return false
	}
	fi, err := os.Stat(path)
	return err == nil && fi.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0
}
