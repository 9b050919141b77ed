SELECT service_name, service_version, type, unit, count(*) AS profiles,
  sum(sample_count) AS samples, sum(value_sum) AS total, min(time) AS first_time, max(time) AS last_time
FROM {profiles}
{where}
GROUP BY service_name, service_version, type, unit
ORDER BY service_name, coalesce(service_version, ''), type, unit
{limit}
