// Package peers implements the verb peers: time, memory and quality compared with scikit-learn, and with methods as in
// scikit-feature.
//
//  1. sampleRows passes rows drawn by the seed to ufs-stream as Parquet and to Python as .npy
//     (rows.go). Its memory does not grow with their number, except for one number a row.
//  2. takeTurns runs every peer in turn, each selection a process (run.go): ufs-stream, or a function
//     of peers.py (python.go).
//  3. scoreChoices scores all choices alike, by ufs-stream eval.
//  4. writeResults writes the tables and the figures (write.go).
package peers
