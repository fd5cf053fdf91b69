package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/report"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

type reportOptions struct {
	requestFlags         // used only for the memory limit
	out, png, svg string // the file of the page, and the folders for its figures
}

func newReport(c *cli) *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:   "report SEL.json… -o report.html",
		Short: "Show selections as one HTML page, or as charts",
		Long: `Write one HTML page on selections. Its first sentences state the choice, the share that it
explains, how many features are worth keeping, whether to trust it, and which columns were left out.
Beside the curve stand the chosen features, each with the ones it stands for. Then come a map of the
columns by their correlations, the ranking, and a table of all columns to search and sort.
For features named px_R_C it shows the mask of chosen pixels over the mean image, and for px_R_C_B
band by band. Details of the run are folded below. Buttons save tables as CSV and figures as PNG.
Several selections are compared: in one table, in one plot, with masks side by side, and by the
rank of each feature in each. If their inputs differ, it shows how far the columns drifted.
It also shows the JSON of path and of eval. The page loads nothing, follows light and dark,
prints, and can be sent as it is.

  ufs-stream select data -k 50 -o sel.json && ufs-stream report sel.json -o report.html
  ufs-stream report a.json b.json grid.json eval.json -o report.html
  ufs-stream report sel.json --png charts --svg charts`,
		Args: program.AtLeastOne("SEL.json"),
		RunE: func(cmd *cobra.Command, args []string) error { return runReport(cmd.Context(), c, args, &o) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.out, "output", "o", "", "write the page to `FILE`, at once and whole (default: standard output, or no page if --png or --svg is given)")
	f.StringVar(&o.png, "png", "", "write the charts and masks as PNG files to `DIR`")
	f.StringVar(&o.svg, "svg", "", "write the charts and masks as SVG files to `DIR`")
	o.addOptions(f, 0, "memory-limit")
	f.Lookup("memory-limit").Usage = memoryUsage
	return cmd
}

func runReport(ctx context.Context, c *cli, args []string, o *reportOptions) error {
	switch end := strings.ToLower(place.Ext(o.out)); end {
	case "", ".html", ".htm", ".xhtml":
	default:
		if !atomicfile.IsDevice(o.out) {
			return stream.Usagef("report: -o %s: the page is HTML; name it %s", place.DisplayName(o.out), place.WithExt(o.out, ".html"))
		}
	}
	if err := atomicfile.CheckNotInput(ctx, o.out, args...); err != nil {
		return err
	}
	if err := atomicfile.CheckWritable(ctx, o.out); err != nil {
		return err
	}
	p := report.Page{Version: versionText(), Spelling: program.FlagOf}
	limitMemory(c, o.req.Limits.Memory)
	err := ufs.Within(o.req.Limits.Memory, func(room int64) (err error) {
		p.Documents, err = readDocuments(ctx, args, room)
		return err
	})
	if err != nil {
		return err
	}
	if err := writeFigures(ctx, c, p, o, args); err != nil {
		return err
	}
	if o.out == "" && (o.png != "" || o.svg != "") {
		return nil
	}
	return c.writeOutput(ctx, o.out, p.WriteHTML)
}

// readDocuments reads results from files or from object stores. Together they may use room bytes of memory, if it is
// not 0.
func readDocuments(ctx context.Context, paths []string, room int64) (all []report.Document, err error) {
	remedy := stream.Textf("make one with: ufs-stream select … -o SEL.json")
	heldBytes := int64(0)
	for _, path := range paths {
		name := place.DisplayName(path)
		text, err := chunkio.ReadAll(ctx, path, chunkio.FetchOptions{Memory: room}, remedy)
		if err != nil {
			return nil, report.Unread(name, err)
		}
		need, err := report.Size(ctx, text)
		if err != nil {
			return nil, err
		}
		if heldBytes += need; room > 0 && heldBytes+int64(len(text)) > room {
			return nil, &stream.MemoryError{What: "reading " + name, Need: heldBytes + int64(len(text)), Limit: room}
		}
		d, err := report.Read(name, bytes.NewBuffer(text))
		if err != nil {
			return nil, err
		}
		all = append(all, *d)
	}
	return all, nil
}

func writeFigures(ctx context.Context, c *cli, p report.Page, o *reportOptions, inputs []string) error {
	list := p.Figures()
	for _, form := range []struct {
		dir, end string
		write    func(report.Figure, io.Writer) error
	}{{o.png, ".png", report.Figure.WritePNG}, {o.svg, ".svg", report.Figure.WriteSVG}} {
		if form.dir == "" {
			continue
		}
		dir, err := place.LocalPath(form.dir)
		if err != nil {
			return err
		}
		names := convert.Each(list, func(f report.Figure) string { return f.Name + form.end })
		if err := atomicfile.CheckNoneIsInput(ctx, dir, slices.Values(names), inputs); err != nil {
			return err
		}
		if !place.IsURL(dir) { // stores need no folders
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return &stream.OutputError{Path: dir, Err: err}
			}
		}
		for i, f := range list {
			if err := renderToFile(ctx, place.JoinBelow(dir, names[i]), func(w io.Writer) error { return form.write(f, w) }); err != nil {
				return err
			}
		}
		if len(list) == 0 {
			c.warn([]string{"there is nothing to draw in these files"})
			continue
		}
		c.printRemarkIfVerbose("%s: %s", place.DisplayName(dir), print.CountNoun(len(list), "chart"))
	}
	return nil
}
