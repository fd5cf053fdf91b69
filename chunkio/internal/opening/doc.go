// Package opening opens a file by its format. Files without row groups (text, arrays, Avro, triples of sparse rows) and
// standard input are written to scratch files first, and are then read from these.
package opening
