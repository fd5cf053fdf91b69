// Package peers implements the verb peers, which compares time, memory and quality of ufs-stream with scikit-learn, and
// with methods as in scikit-feature.
//
//  1. sampleRows writes a random sample of the rows, as Parquet for ufs-stream and as .npy for Python
//     (rows.go). Its memory does not grow with their number, except for one number per row.
//  2. takeTurns runs every peer in turn, each selection in its own process (run.go): ufs-stream, or a
//     function of peers.py (python.go).
//  3. scoreChoices scores all choices in the same way, by ufs-stream eval.
//  4. writeResults writes the tables and the figures (write.go).
package peers
