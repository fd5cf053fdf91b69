package chunkio

import "github.com/ufs-stream/ufs-stream/chunkio/internal/formats"

// InputFormat describes a format of input files.
type InputFormat = formats.Format

// InputFormats returns the formats of input files.
func InputFormats() []*InputFormat { return formats.AllFormats() }

// InputFormatByName returns the format that the ending of a file name shows, or nil.
func InputFormatByName(file string) *InputFormat { return formats.ByName(file) }
