// Package peers implements the verb peers, which compares time, memory and quality of ufs-stream with scikit-learn, and
// with Python implementations of methods of scikit-feature.
//
//  1. sampleRows writes a random sample of the rows, as Parquet for ufs-stream and as .npy for Python (rows.go). Its
//     memory grows with the number of rows only by one number per row.
//  2. takeTurns runs every peer in turn, each selection in its own process (run.go). A peer is a method of
//     ufs-stream, or a function of peers.py (python.go).
//  3. scoreChoices scores all choices in the same way, by ufs-stream eval.
//  4. writeResults writes the tables and the figures (write.go).
package peers
