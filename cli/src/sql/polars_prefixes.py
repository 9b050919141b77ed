names = pl.col("display_names").list.reverse()
prefixes = (
    stacks.select("stack_id", names=names, stack_depth=names.list.len())
    .filter(pl.col("stack_depth") > 0)
    .with_columns(depth=pl.int_ranges(1, pl.col("stack_depth") + 1))
    .explode("depth")
    .with_columns(path=pl.col("names").list.head("depth"))
    .select(
        "stack_id", "stack_depth", "depth",
        function_name=pl.col("path").list.last(),
        path=pl.col("path").list.join(";"),
    )
)
