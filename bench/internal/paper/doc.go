// Package paper implements the verb paper, which computes the tables of the papers on the real datasets, and compares
// our figures with the printed ones.
//
//  1. tables.go describes each table: the datasets, the methods, their grids of settings, and the printed figures.
//     rows.go scales the rows of images, as a paper does.
//  2. fillTable makes all selections of a table by ufs-stream select, scores these by ufs-stream eval, and tunes methods
//     over their grids by the labels (run.go, package tuning).
//  3. compare.go tests the methods, and compares tuned settings with random columns tuned alike and the default.
//  4. writeFiles writes each printed figure, our figure and the difference as Markdown, CSV and LaTeX (write.go).
package paper
