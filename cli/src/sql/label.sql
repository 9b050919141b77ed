WITH labelled AS (
  SELECT {label} AS label_value, unit, value
  FROM {samples}
  {where}
)
SELECT label_value, unit, count(*) AS samples, sum(value) AS total
FROM labelled
GROUP BY label_value, unit
ORDER BY total DESC, label_value, unit
{limit}
