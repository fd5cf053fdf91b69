package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/memory/jsonsize"
	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Document is one file of results. Exactly one of Selection, Curve, Grid and Evaluation is set.
type Document struct {
	Name       string // name of the file, for people
	Selection  *stream.Selection
	Curve      *stream.Curve
	Grid       *stream.Grid
	Evaluation *stream.Evaluation
}

// Read reads a document of any kind, according to its schema. Its error for bad content is a *[stream.DataError].
func Read(name string, r io.Reader) (*Document, error) {
	var b []byte
	var err error
	if text, held := r.(*bytes.Buffer); held {
		b = text.Bytes()
	} else if b, err = io.ReadAll(r); err != nil {
		return nil, Unread(name, err)
	}
	schema, err := schemaOf(b)
	if err != nil {
		return nil, errMalformed(name, b, err)
	}
	d := &Document{Name: name}
	switch schema {
	case stream.SelectionSchema, stream.SelectionSchemaV1:
		d.Selection, err = stream.DecodeSelection(bytes.NewBuffer(b))
	case stream.CurveSchema:
		d.Curve, err = stream.DecodeCurve(bytes.NewBuffer(b))
	case stream.GridSchema:
		d.Grid, err = stream.DecodeGrid(bytes.NewBuffer(b))
	case stream.EvaluationSchema:
		d.Evaluation, err = stream.DecodeEvaluation(bytes.NewBuffer(b))
	case "":
		return nil, errNoResult(name, errors.New("it has no schema"))
	default:
		return nil, errNoResult(name, fmt.Errorf("its schema is %q, which report does not know", drawing.TruncateText(schema, 80)))
	}
	if err != nil {
		return nil, errMalformed(name, b, err)
	}
	if err := d.checkContents(); err != nil {
		return nil, stream.Dataf(name, "%w", err)
	}
	return d, nil
}

// Unread makes the error for a file that could not be read. It is err itself if that names the file or a remedy.
func Unread(name string, err error) error {
	switch at := (*fs.PathError)(nil); {
	case errors.As(err, new(*stream.DataError)), errors.As(err, new(*stream.UsageError)), errors.As(err, new(*stream.MemoryError)),
		errors.As(err, new(*stream.OutputError)), errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &at):
		return errNoResult(name, at.Err) // the error already has the path
	}
	return errNoResult(name, err)
}

func schemaOf(text []byte) (string, error) {
	var head struct {
		Schema string `json:"schema"`
	}
	err := json.Unmarshal(text, &head)
	return head.Schema, err
}

// Size returns the bytes of memory that the document in text will need, in addition to text itself. Use it before
// [Read], which does not limit its memory.
func Size(ctx context.Context, text []byte) (int64, error) {
	kinds := map[string]reflect.Type{
		stream.SelectionSchema:   reflect.TypeFor[stream.Selection](),
		stream.SelectionSchemaV1: reflect.TypeFor[stream.Selection](),
		stream.CurveSchema:       reflect.TypeFor[stream.Curve](),
		stream.GridSchema:        reflect.TypeFor[stream.Grid](),
		stream.EvaluationSchema:  reflect.TypeFor[stream.Evaluation](),
	}
	schema, err := schemaOf(text)
	kind := kinds[schema]
	if err != nil || kind == nil {
		return 0, ctx.Err() // Read reports the error
	}
	size, err := jsonsize.DecodedBytes(ctx, text, kind)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	return size, err
}

func errNoResult(name string, err error) error {
	return &stream.DataError{Path: name, RowGroup: -1, Row: -1, Err: err,
		Remedy: stream.Textf("report reads what these write with {format} json: select, path, eval")}
}

func errMalformed(name string, b []byte, err error) error {
	at := int64(-1)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at, err = syntax.Offset, stream.PlainJSON(err)
	case errors.As(err, &kind):
		at = kind.Offset
		err = fmt.Errorf("%s holds a %s, which it cannot", kind.Field, kind.Value)
		if kind.Field == "" {
			err = fmt.Errorf("it is no object, but of JSON's kind %s", kind.Value)
		}
	}
	if len(bytes.TrimSpace(b)) == 0 {
		err, at = errors.New("it is empty"), -1
	}
	if at >= 0 && at <= int64(len(b)) {
		err = fmt.Errorf("line %d: %w", 1+bytes.Count(b[:at], []byte{'\n'}), err)
	}
	return errNoResult(name, fmt.Errorf("not a result: %w", err))
}

// checkContents refuses documents without contents to show, and sorts a selection by rank.
func (d *Document) checkContents() error {
	switch {
	case d.Selection != nil && len(d.Selection.Selected) == 0:
		return errors.New("the selection has no features")
	case d.Curve != nil && len(d.Curve.Points) == 0:
		return errors.New("the curve has no points")
	case d.Grid != nil && len(d.Grid.Settings) == 0:
		return errors.New("the grid has no settings")
	case d.Grid != nil && (d.Grid.Recommended < -1 || d.Grid.Recommended >= len(d.Grid.Settings)):
		return fmt.Errorf("it recommends setting %d of %d", d.Grid.Recommended, len(d.Grid.Settings))
	case d.Grid != nil && gridCellCount(d.Grid) > maxGridCells:
		return fmt.Errorf("its values of α and γ make a table of %s cells, and report shows up to %s", countText(int64(gridCellCount(d.Grid))), countText(maxGridCells))
	case d.Evaluation != nil && len(d.Evaluation.Results) == 0:
		return errors.New("the evaluation has no results")
	}
	if s := d.Selection; s != nil {
		ranks := slices.Clone(s.Selected)
		slices.SortStableFunc(ranks, func(a, b stream.Selected) int { return a.Rank - b.Rank })
		for i, f := range ranks {
			if f.Rank != i+1 {
				return fmt.Errorf("its ranks are not 1 to %d: %d stands at place %d", len(ranks), f.Rank, i+1)
			}
		}
		s.Selected = ranks
	}
	return nil
}

func (d *Document) documentKind() string {
	switch {
	case d.Selection != nil:
		return "selection"
	case d.Curve != nil:
		return "curve"
	case d.Grid != nil:
		return "grid"
	}
	return "evaluation"
}

func (d *Document) shortName() string {
	s := d.Name
	if i := strings.LastIndexAny(s, `/\`); i >= 0 {
		s = s[i+1:]
	}
	return strings.TrimSuffix(s, ".json")
}
