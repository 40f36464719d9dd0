"""Full audits of every data set, and the bars that they have to meet."""
