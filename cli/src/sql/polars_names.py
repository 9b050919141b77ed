name = pl.element().fill_null("").replace("", "[unknown]")
has_frames = pl.col("function_names").list.len() > 0
nameless = pl.concat_list(pl.lit("[unknown]"))
names = pl.when(has_frames).then(pl.col("function_names").list.eval(name)).otherwise(nameless)
clean = pl.element().str.replace_many([";", "\n", "\r"], [":", " ", " "])
stacks = stacks.with_columns(display_names=names)
stacks = stacks.with_columns(path_names=pl.col("display_names").list.eval(clean))
