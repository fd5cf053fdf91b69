// Package hvg scores the columns of a table of counts, as of genes in single cells, by how much they vary beyond other
// columns of their mean. Each score depends only on the mean, the variance and the values of a column:
//
//  1. seurat and cell_ranger take the mean μ and the variance σ² (divisor n−1) of each column of rows that were scaled to
//     a total. seurat compares ln(σ²/μ) with its mean and standard deviation over the columns in one of 20 intervals of
//     ln(1+μ) of equal width (Satija, Farrell, Gennert, Schier and Regev, Spatial reconstruction of single-cell gene
//     expression data, Nature Biotechnology 33, 2015). cell_ranger compares σ²/μ with its median and its median absolute
//     deviation over the columns in one of 20 intervals of quantiles of μ (Zheng et al., Massively parallel digital
//     transcriptional profiling of single cells, Nature Communications 8, 2017).
//  2. seurat_v3 takes counts. A local regression of log₁₀ σ² on log₁₀ μ gives each column the variance s² that other
//     columns of its mean have. The score is the variance of the values that are divided by s and clipped at √n above
//     their mean (Stuart et al., Comprehensive integration of single-cell data, Cell 177, 2019). A second pass over the
//     rows clips, unless no value is so large.
//
// scanpy's highly_variable_genes, without batches, has the same definitions, except that here
//
//   - constant columns have no score, and take no part in intervals and in the regression;
//   - equal quantiles make empty intervals, and scanpy stops with an error;
//   - columns of an interval without any deviation have no score under cell_ranger, and infinite ones in scanpy;
//     Zheng et al. rank by the absolute deviation from the median, so that they also choose columns that vary little.
//
// seurat and seurat_v3 give the numbers of Seurat 4.3.0 (mean.var.plot and vst), whose results are a fixture of the test,
// except that Seurat counts genes that no cell has in the first interval, with a dispersion of 0.
package hvg
