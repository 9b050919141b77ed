samples = samples.with_columns(label_value=pl.col("attributes").map.get({key}))
