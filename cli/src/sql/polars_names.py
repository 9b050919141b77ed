name = pl.element().fill_null("").replace("", "[unknown]")
stacks = stacks.with_columns(display_names=pl.col("function_names").list.eval(name))
