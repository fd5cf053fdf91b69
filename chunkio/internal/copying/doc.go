// Package copying copies columns of inputs to new files with their types: [ApplyColumns] copies chosen columns,
// [ConvertInputs] all of them. An interrupted copy is resumed.
package copying
