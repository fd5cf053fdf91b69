package main

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/stream"
)

// fetched says in words what was fetched from object stores.
func fetched(t stream.Transfer) string {
	text := fmt.Sprintf("fetched %s in %s", humanize.IBytes(uint64(t.Fetched)), manyRequests(t.Requests))
	if t.Retries > 0 {
		text += fmt.Sprintf(", %s of them sent again", humanize.Comma(t.Retries))
	}
	return text
}

func manyRequests(n int64) string {
	if n == 1 {
		return "1 request"
	}
	return humanize.Comma(n) + " requests"
}

// transferFoot is the last line of a table, where something was fetched.
func transferFoot(w *screen.Page, t *stream.Transfer) {
	if t == nil {
		return
	}
	w.Printf("\n%s from object stores\n", fetched(*t))
}

// noteTransfer says what was fetched, with -v.
func (c *cli) noteTransfer(t *stream.Transfer) {
	if t != nil {
		c.note("%s from object stores", fetched(*t))
	}
}
