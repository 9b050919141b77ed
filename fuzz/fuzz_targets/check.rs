//! Both decoders of the checker give the same findings. Fixing a fixed file changes nothing, and no rule is broken
//! more often than before.
#![no_main]

use libfuzzer_sys::fuzz_target;
use otlp_profiles::check::{Options, Report, Rule, RuleCount, fix, validate};
use otlp_profiles::{Limits, Severity};
use otlp_profiles_fuzz::format;

/// The rules whose findings depend on the limit that turns the canonical decoder off.
const LIMITED: [&str; 3] = ["OP0007", "OP9010", "OP9104"];

fn findings(report: &Report) -> (Vec<String>, Vec<(&str, u64)>) {
    let listed = report.findings().filter(|finding| !LIMITED.contains(&finding.rule.id()));
    let counts = report.rule_counts().filter(|count| !LIMITED.contains(&count.rule.id()));
    let counts = counts.map(|count| (count.rule.id(), count.count));
    (listed.map(ToString::to_string).collect(), counts.collect())
}

fn count(report: &Report, rule: &Rule) -> u64 {
    report.rule_counts().find(|count| count.rule == rule).map_or(0, |count| count.count)
}

fuzz_target!(|input: (u8, &[u8])| {
    let format = format(input.0);
    if format.name() != "pprof" && !format.name().starts_with("otlp-1") {
        return;
    }
    let every = Rule::all().filter(|rule| !LIMITED.contains(&rule.id())).collect();
    let options = Options::default().format(format).only(every).max_findings(u64::MAX);
    // The canonical decoder supports up to eight attributes. A lower limit sends every message to the other
    // decoder.
    let records = options.clone().limits(Limits::network().max_attributes_per_item(7));
    let canonical = validate(input.1, &options);
    assert_eq!(findings(&canonical), findings(&validate(input.1, &records)));

    let options = Options::default().format(format);
    let before = validate(input.1, &options);
    let fixed = fix(input.1, &options);
    let more = |after: &&RuleCount| {
        after.severity > Severity::Info && after.count > count(&before, after.rule)
    };
    assert_eq!(fixed.report.rule_counts().find(more), None);
    let again = fix(&fixed.bytes, &options);
    assert!(again.changes.is_empty(), "{:?}", again.changes);
    assert_eq!(again.bytes, fixed.bytes);
});
