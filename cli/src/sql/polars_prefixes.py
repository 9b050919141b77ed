names, paths = (pl.col(of).list.reverse() for of in ("display_names", "path_names"))
prefixes = (
    stacks.select("stack_id", names=names, paths=paths, stack_depth=names.list.len())
    .with_columns(depth=pl.int_ranges(1, pl.col("stack_depth") + 1))
    .explode("depth")
    .select(
        "stack_id", "stack_depth", "depth",
        function_name=pl.col("names").list.head("depth").list.last(),
        path=pl.col("paths").list.head("depth").list.join(";"),
    )
)
