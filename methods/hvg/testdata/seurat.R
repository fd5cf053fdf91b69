# Makes testdata/fixtures/hvg_seurat.json by Seurat 4.3.0 of Debian (r-cran-seurat): Rscript seurat.R > hvg_seurat.json
suppressMessages({library(Seurat); library(Matrix)})
set.seed(7)
genes <- 200; cells <- 90
mu <- exp(rnorm(genes, -0.5, 1.6)); type <- rep(1:3, length.out = cells)
counts <- matrix(0, genes, cells)
for (g in 1:genes) {
  f <- if (g %% 7 == 0) c(4, .3, .3)[type] else rep(1, cells)
  counts[g, ] <- rnbinom(cells, mu = mu[g] * f * exp(rnorm(cells, 0, .3)), size = 2)
}
counts[10, ] <- 0; counts[10, 3] <- 400 # clipped
counts[20, ] <- 3                       # constant
counts <- counts[rowSums(counts) > 0, ]
rownames(counts) <- paste0("g", seq_len(nrow(counts))); colnames(counts) <- paste0("c", seq_len(cells))
sparse <- as(counts, "dgCMatrix")
vst <- FindVariableFeatures(sparse, selection.method = "vst", verbose = FALSE)
mvp <- FindVariableFeatures(NormalizeData(sparse, verbose = FALSE), selection.method = "mean.var.plot", verbose = FALSE)
varies <- vst$vst.variance > 0
numbers <- function(x) paste0("[", paste(ifelse(is.na(x), "null", formatC(x, digits = 17, format = "g")), collapse = ","), "]")
cat("{\"counts\":[", paste(sapply(seq_len(nrow(counts)), function(i) paste0("[", paste(counts[i, ], collapse = ","), "]")), collapse = ",\n"), "]", sep = "")
for (column in names(vst)) cat(",\n\"", column, "\":", numbers(vst[[column]]), sep = "")
for (column in names(mvp)) cat(",\n\"", column, "\":", numbers(mvp[[column]]), sep = "")
smooth <- function(x, span) {
  y <- sin(x) + rnorm(length(x)) / 5
  paste0("{\"x\":", numbers(x), ",\"y\":", numbers(y), ",\"span\":", span, ",\"fitted\":", numbers(loess(y ~ x, span = span)$fitted), "}")
}
cases <- c(smooth(rnorm(57), .3), smooth(round(2 * rnorm(150)) / 4 + ifelse(runif(150) < .5, runif(150), 0), .3), smooth(rexp(100), .75), smooth(1e6 + 1:40, .5))
cat(",\n\"loess\":[", paste(cases, collapse = ",\n"), "]}\n", sep = "")
