package settled

import (
	"cmp"
	"context"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func (r *Run) PlanOptions() map[string]string {
	options := request.StatisticsShape(&r.Request)
	options["seed"] = strconv.FormatUint(r.Choice.Seed, 10)
	planned := r.PlanHeader != nil && r.PlanHeader.Method == r.Bound.Name && r.PlanHeader.Options["scale"] != ""
	if r.Bound.From.UsesGraph() || r.Original.Choice.Scale != "" || planned {
		options["scale"] = r.Choice.Scale
	}
	for option := range r.Choice.Options {
		options[option] = rootedPath(option, r.Choice.Options.Text(option))
	}
	return options
}

// rootedPath returns the text of an option with the same meaning on every machine: a file name becomes absolute.
func rootedPath(option, text string) string {
	if !request.NamesFile(option, text) {
		return text
	}
	path, err := place.WithoutParameters(text)
	if err != nil { // the reader of the option reports the error
		return text
	}
	return path
}

// ApplyPlan reads the plan file of the request, and takes the inputs and the open options from it.
func (r *Run) ApplyPlan(ctx context.Context) error {
	q := &r.Request
	switch {
	case len(q.Input.Paths) > 0:
		return stream.Usagef("{plan} %s names the files to read; leave INPUT out", place.DisplayName(q.Input.Plan))
	case q.Stats != "":
		return stream.Usagef("give {plan} or {stats}, not both")
	case q.SkipBad:
		return stream.Usagef("{on-error} skip-file leaves files out when the plan is made; by then all of it is read")
	}
	h, err := chunkio.ReadPlanHeader(ctx, q.Input.Plan, budget.DocumentOptions(q))
	if err != nil {
		return budget.ErrForLimit(q, err)
	}
	r.PlanHeader = &h
	settings := make(method.Settings, len(h.Options))
	for option, text := range h.Options {
		settings[option] = text
	}
	if h.Method == "" { // made by another program, which plans only files
		q.Input.Where = cmp.Or(q.Input.Where, h.Options["where"])
		return nil
	}
	p, err := RequestFromRecord(h.Method, settings, q.Choice.Methods)
	if err != nil {
		return stream.Dataf(place.DisplayName(q.Input.Plan), "%w", err)
	}
	if err := ResolveFiles(p.Choice.Options, func(name string) (string, error) { return h.Resolve(q.Input.Plan, name, q.Input.Allow) }); err != nil {
		return err
	}
	if h.Footers {
		if err := checkPlannedTexts(r, h.Options); err != nil {
			return err
		}
	}
	request.FillFromPlan(q, p)
	return nil
}

// FillInputFromPlan takes from the plan of q, if it has one, the options that choose rows and columns of the input and that
// q leaves open. It is for verbs that take all other options from a selection.
func FillInputFromPlan(ctx context.Context, q *request.Request) error {
	if q.Input.Plan == "" {
		return nil
	}
	r := &Run{Request: *q, Original: *q}
	if err := r.ApplyPlan(ctx); err != nil {
		return err
	}
	q.Input, q.Columns.UnionByName, q.Columns.Sparse = r.Input, r.Columns.UnionByName, r.Columns.Sparse
	return nil
}

// checkPlannedTexts refuses options for reading text that differ from the options of the plan. It is for plans with
// footers, which depend on these options.
func checkPlannedTexts(r *Run, planned map[string]string) error {
	requested := request.ListOptions(&r.Request, request.ReadsText)
	for _, option := range request.SortedKeys(requested) {
		if requested[option] != planned[option] {
			return r.ErrFrozenOption(option, requested[option], planned[option])
		}
	}
	return nil
}

func (r *Run) ErrFrozenOption(option, requested, recorded string) error {
	with := stream.PlainText("without it")
	if recorded != "" {
		with = stream.Textf("with %v %s", stream.Option(option), recorded)
	}
	return stream.Usagef("%v %s: %s was made %v, and its parts must be alike; leave the option out, or make another plan", stream.Option(option), requested, place.DisplayName(r.Input.Plan), with)
}

// RoundID identifies the round of scans by the digest of the profile that it uses; it is "" without a profile.
func (r *Run) RoundID() string {
	if r.WholeProfile == nil {
		return ""
	}
	return r.WholeProfile.Digest
}
