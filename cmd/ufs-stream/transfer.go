package main

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/stream"
)

func transferText(t stream.Transfer) string {
	text := fmt.Sprintf("fetched %s in %s", humanize.IBytes(uint64(t.Fetched)), requestCount(t.Requests))
	if t.Retries > 0 {
		text += fmt.Sprintf(", %s of them sent again", humanize.Comma(t.Retries))
	}
	return text
}

func requestCount(n int64) string {
	if n == 1 {
		return "1 request"
	}
	return humanize.Comma(n) + " requests"
}

// printTransfer prints the amount of data transferred from object stores, if there was any.
func printTransfer(w *screen.Page, t *stream.Transfer) {
	if t == nil {
		return
	}
	w.Printf("\n%s from object stores\n", transferText(*t))
}

func (c *cli) printTransferIfVerbose(t *stream.Transfer) {
	if t != nil {
		c.printRemarkIfVerbose("%s from object stores", transferText(*t))
	}
}
