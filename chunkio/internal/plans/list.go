package plans

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
	"github.com/ufs-stream/ufs-stream/internal/disk/planfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

func newPlanList(h planfile.Header, plan string) (list *listing.List, err error) {
	list = &listing.List{Table: h.Table, Plan: plan, Warnings: stream.PlainTexts(h.Warnings)}
	switch {
	case h.Catalog != nil:
		list.KeyTexts = listing.NewKeyTexts(nil)
		for _, p := range h.Catalog.Partitions {
			list.KeyTexts.Keys = append(list.KeyTexts.Keys, p.Key)
			list.KeyTexts.Texts = append(list.KeyTexts.Texts, nil)
		}
	case len(h.Keys) > 0 || h.Table != nil || h.Columns != nil:
		list.KeyTexts = listing.NewKeyTexts(h.Keys)
	}
	if h.Columns != nil {
		list.Schema, err = columns.NewSchema(h.Columns)
	}
	return list, err
}

// planScope returns the paths and URLs that a plan may name: its own folder, the prefixes that the user allows, and its
// recorded roots unless they name a server or credentials.
func planScope(plan string, roots, allowed []string) (*place.Scope, error) {
	scope, err := place.NewScope(place.DisplayName(plan), place.OwnPlaces(plan), allowed)
	if err == nil {
		scope.AddRecorded(plan, roots)
	}
	return scope, err
}

func readNextPlanFile(r *planfile.Reader, scope *place.Scope) (planfile.File, error) {
	f, err := r.Next()
	if f.Lost && r.Header.Since == nil {
		err = errors.New("it has rows that a table has lost, and no version since which")
	}
	if err == nil {
		_, _, err = locatePlanFile(f)
	}
	if err == nil {
		f.Path, err = scope.Resolve(f.Path)
	}
	return f, err
}

func locatePlanFile(f planfile.File) (name string, at store.Location, err error) {
	if store.IsURL(f.Path) {
		if at, err = store.Parse(f.Path); err == nil {
			name, _ = listing.SplitURLQuery(at)
		}
		return name, at, err
	}
	if name, err = place.LocalPath(f.Path); err == nil && !filepath.IsAbs(name) {
		err = fmt.Errorf("%s is not the path of a file from the root; was the plan made on another system?", f.Path)
	}
	return name, at, err
}

func addPlanFile(l *listing.List, f planfile.File) error {
	name, at, err := locatePlanFile(f)
	switch {
	case err != nil:
		return err
	case f.Bytes < 0 || f.Bytes == 0 && f.Version != "":
		return fmt.Errorf("%s: a file of %d bytes", place.DisplayName(f.Path), f.Bytes)
	case l.KeyTexts != nil && len(f.Keys) != len(l.KeyTexts.Keys):
		return fmt.Errorf("%s has %d partition values, and there are %d keys", place.DisplayName(f.Path), len(f.Keys), len(l.KeyTexts.Keys))
	}
	if _, err := columns.ParseConstants(f.Constants); err != nil || f.Constants != nil && l.Schema == nil {
		return fmt.Errorf("%s: %w", place.DisplayName(f.Path), cmp.Or(err, errors.New("it has values of columns, and the plan has no columns")))
	}
	if l.KeyTexts != nil {
		l.KeyTexts.AddFileValues(f.Keys)
	}
	size := f.Bytes
	if size == 0 { // the plan does not contain the size
		size = -1
	}
	if store.IsURL(f.Path) {
		l.AddObject(store.Object{Location: at, Size: size, Version: f.Version}, f.Deleted, f.Constants)
	} else {
		l.AppendEntry(name, "", size, "", f.Deleted, f.Constants)
	}
	return nil
}

func readPlanList(r *planfile.Reader, scope *place.Scope, plan string, lost bool) (*listing.List, error) {
	type placed struct {
		planfile.File
		name string
	}
	var files []placed
	losses := 0
	for {
		f, err := readNextPlanFile(r, scope)
		if errors.Is(err, io.EOF) {
			break
		}
		name := ""
		if err == nil {
			name, _, err = locatePlanFile(f)
		}
		if err != nil {
			return nil, err
		}
		if f.Lost {
			losses++
		}
		if f.Lost == lost {
			files = append(files, placed{f, name})
		}
	}
	slices.SortFunc(files, func(a, b placed) int { return strings.Compare(a.name, b.name) })
	list, err := newPlanList(r.Header, plan)
	if err != nil {
		return nil, err
	}
	list.Losses = losses
	for i, f := range files {
		if i > 0 && f.name == files[i-1].name {
			return nil, fmt.Errorf("it names %s twice", place.DisplayName(f.Path))
		}
		if err := addPlanFile(list, f.File); err != nil {
			return nil, err
		}
	}
	if list.Count == 0 {
		return nil, errors.New("it names no file")
	}
	return list, nil
}
