//! Rows, and their calls, trimmed as pprof trims them.

use crate::error::{Error, ErrorKind, Result};
use crate::look::graph::{self, Edge, Needed, Values, Weights};
use crate::look::header;
use crate::look::node::{Frames, Nodes, Rules};
use crate::look::options::Options;
use crate::look::pattern::Pattern;
use crate::look::report::{Call, Header, Inline, Row, Top, Tree, TreeRow, Trimmed};
use crate::look::select::select;
use crate::model::Profiles;
use crate::output_limit::OutputLimit;
use crate::units;

/// Adds up values by function, or by what [`Options::by`] names.
///
/// `flat` is the value of the samples whose leaf is the function, `cum` that of the samples with the function anywhere
/// in the stack. The samples of all profiles with the sample type count. Rows, their order and what is left out
/// follow `pprof -top` exactly; sums have 128 bits.
///
/// It takes time linear in the size of the profiles and copies them only to filter them.
///
/// # Errors
///
/// There are no profiles, or none has the sample type.
///
/// ```
/// use otlp_profiles::look::{self, Options};
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let top = look::top(&profiles, &Options::default())?;
/// let hottest = &top.rows[0];
/// println!("{} of {} {} in {}", hottest.flat, top.header.total, top.header.unit, hottest.name);
/// print!("{top}"); // as pprof prints it
/// # assert!(hottest.flat > 0);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn top(profiles: &Profiles, options: &Options) -> Result<Top> {
    let (profiles, header) = header::prepare(profiles, options)?;
    let mut look = Look::new(&profiles, header, options, 0)?;
    let marks = graph::inlined(&look.profiles.dictionary, &look.frames, look.nodes.len());
    let edges = if look.frames.has_inlined() { look.edges(Some(&marks)) } else { Vec::new() };
    let mut inline = vec![(false, false); look.nodes.len()];
    for edge in &edges {
        let (any_inline, any_other) = &mut inline[edge.callee as usize];
        *any_inline |= edge.is_inline;
        *any_other |= !edge.is_inline;
    }
    let rows = std::mem::take(&mut look.rows);
    let row = |(node, name): (u32, String)| {
        let (flat, cum) = look.values.row(node);
        let (any_inline, any_other) = inline[node as usize];
        Row { name, flat, cum, inline: graph::inline(any_inline, any_other) }
    };
    let rows: Vec<Row> = rows.into_iter().map(row).collect();
    Ok(Top { header: look.header, trimmed: look.trimmed, rows })
}

/// Adds up values by function as [`top()`] does, with the callers and the callees of each: `pprof -tree`.
///
/// The most important 80 rows, unless [`Options::node_count`] is set. A row that was left out is bridged: a call leads
/// from its caller to its callee.
///
/// # Errors
///
/// There are no profiles, or none has the sample type.
///
/// ```
/// use otlp_profiles::look::{self, Options};
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let tree = look::tree(&profiles, &Options::default())?;
/// let leak = tree.rows.iter().find(|one| one.row.name == "main.leak").unwrap();
/// assert_eq!(leak.callers[0].name, "main.main");
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn tree(profiles: &Profiles, options: &Options) -> Result<Tree> {
    let (profiles, header) = header::prepare(profiles, options)?;
    Look::new(&profiles, header, options, 80)?.tree(|_| true)
}

/// Shows the rows whose name matches, with their callers and callees: `pprof -peek`. Nothing is left out.
///
/// # Errors
///
/// There are no profiles, none has the sample type, or no name matches.
///
/// ```
/// use otlp_profiles::look::{self, Options, Pattern};
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let leak = Pattern::new("main.leak", |name| name == "main.leak");
/// let peek = look::peek(&profiles, &leak, &Options::default())?;
/// assert_eq!(peek.rows.len(), 1);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn peek(profiles: &Profiles, pattern: &Pattern, options: &Options) -> Result<Tree> {
    let options = options.clone().untrimmed();
    let (profiles, header) = header::prepare(profiles, &options)?;
    let tree = Look::new(&profiles, header, &options, 0)?.tree(|name| pattern.matches(name))?;
    if tree.rows.is_empty() {
        let message = format!("no row matches {}", pattern.text());
        return Err(Error::new(ErrorKind::InvalidOption, message));
    }
    Ok(tree)
}

/// A graph of which the rows are chosen.
struct Look<'a, 'o> {
    profiles: &'a Profiles,
    nodes: Nodes<'a>,
    frames: Frames,
    weights: Weights<'a, 'o>,
    values: Values,
    header: Header,
    trimmed: Trimmed,
    /// The rows: nodes and their names, sorted.
    rows: Vec<(u32, String)>,
    /// By node: whether it is a row; `None` if nothing was left out, and nodes without a value are part of the graph.
    kept: Option<Vec<bool>>,
    edge_cutoff: i128,
    limit: OutputLimit,
}

impl<'a, 'o> Look<'a, 'o> {
    /// Adds up values and chooses the rows: at most `count` if the options have no number.
    fn new(
        profiles: &'a Profiles,
        header: Header,
        options: &'o Options,
        count: usize,
    ) -> Result<Self> {
        let dictionary = &profiles.dictionary;
        let selection = select(profiles, options.sample_type.as_deref())?;
        let mut nodes = Nodes::new(Rules::of(options));
        let frames = nodes.frames(dictionary, Rules::of(options));
        let mut weights = Weights::new(dictionary, &options.by);
        for (entry, column, factor) in &selection.columns {
            weights.enter(entry);
            for sample in entry.profile().samples() {
                let value = factor * i128::from(entry.profile().total(sample, *column));
                let divisor =
                    if options.mean { entry.profile().total(sample, 0).into() } else { 0 };
                if value != 0 || divisor != 0 {
                    weights.add(dictionary, &mut nodes, &sample, (value, divisor));
                }
            }
        }
        nodes.tell_apart();
        let values = Values::new(dictionary, &nodes, &frames, &weights);
        let mut look = Self {
            profiles,
            nodes,
            frames,
            weights,
            values,
            header,
            trimmed: Trimmed::default(),
            rows: Vec::new(),
            kept: None,
            edge_cutoff: 0,
            limit: OutputLimit::or_default(options.limit, [profiles]),
        };
        look.choose(options, options.node_count.unwrap_or(count))?;
        look.header.display_unit = look.display_unit(options);
        Ok(look)
    }

    /// Chooses and sorts the rows.
    fn choose(&mut self, options: &Options, count: usize) -> Result<()> {
        let values = &self.values;
        let mut rows = values.shown(options);
        let all = rows.len();
        let sum: i128 = rows.iter().map(|node| values.flat[*node as usize]).sum();
        let share = |sum: i128, fraction: f64| ((sum as f64 * fraction) as i128).abs();
        let cutoff = share(sum, options.node_fraction);
        self.edge_cutoff = share(sum, options.edge_fraction);
        if cutoff > 0 {
            rows.retain(|node| values.cum[*node as usize].abs() >= cutoff);
        }
        let dropped = all - rows.len();
        self.limit.check(rows.iter().map(|node| self.nodes.name_bytes(*node)).sum())?;
        let mut rows: Vec<_> = rows.into_iter().map(|node| (node, self.nodes.name(node))).collect();
        // The order of `FlatNameOrder` and `CumNameOrder` in pprof, which break ties by the printed node.
        rows.sort_by(|(a, a_name), (b, b_name)| {
            let [flat, cum] = [&values.flat, &values.cum]
                .map(|of| [of[*a as usize].abs(), of[*b as usize].abs()]);
            let [first, last] = if options.cum { [cum, flat] } else { [flat, cum] };
            (first[1].cmp(&first[0]))
                .then_with(|| a_name.cmp(b_name))
                .then_with(|| last[1].cmp(&last[0]))
                .then_with(|| self.nodes.tie(*a).cmp(&self.nodes.tie(*b)))
        });
        let before = rows.len();
        rows.truncate(if count == 0 { before } else { count });
        if rows.len() < all {
            let mut kept = vec![false; self.nodes.len()];
            rows.iter().for_each(|(node, _)| kept[*node as usize] = true);
            self.kept = Some(kept);
        }
        let shown = rows.iter().map(|(node, _)| values.row(*node).0).sum();
        // pprof trims by the sum of the rows, but prints the share of the total.
        let cutoff = share(self.header.total, options.node_fraction);
        self.trimmed = Trimmed { shown, dropped, cutoff, rows: before, kept: rows.len() };
        self.rows = rows;
        Ok(())
    }

    /// The unit that fits the smallest row, or a hundred times it if the total has another unit.
    fn display_unit(&self, options: &Options) -> String {
        let from = &self.header.unit;
        let wanted = options.unit.as_deref().unwrap_or(units::AUTO);
        if wanted != units::AUTO || self.rows.is_empty() {
            return wanted.to_owned();
        }
        let smallest = self.rows.iter().filter_map(|(node, _)| {
            let (flat, cum) = self.values.row(*node);
            Some(if flat == 0 { cum.abs() } else { flat.abs() }).filter(|least| *least > 0)
        });
        let largest = self.header.total;
        let smallest = smallest.min().unwrap_or(largest);
        let fitting = |value| units::scale(value, from, units::AUTO).1;
        let is_coarse = fitting(smallest) != fitting(largest) && smallest * 100 < largest;
        let unit = fitting(if is_coarse { smallest * 100 } else { smallest });
        if unit.is_empty() { from.clone() } else { unit.to_owned() }
    }

    /// The edges of the rows that are not too small. `callees` marks the nodes to which edges matter.
    fn edges(&self, callees: Option<&[bool]>) -> Vec<Edge> {
        let needed = Needed { nodes: self.kept.as_deref(), callees };
        let mut is_row = vec![false; self.nodes.len()];
        self.rows.iter().for_each(|(node, _)| is_row[*node as usize] = true);
        let mut edges =
            graph::edges(&self.profiles.dictionary, &self.frames, &self.weights, needed);
        // Like pprof, keep edges to nodes without a value, whatever their weight.
        edges.retain(|edge| !is_row[edge.callee as usize] || edge.weight.abs() >= self.edge_cutoff);
        edges
    }

    /// The rows with their edges, of those whose name matches.
    ///
    /// # Errors
    ///
    /// The names of the calls, each of which holds one, exceed the output limit.
    fn tree(self, matches: impl Fn(&str) -> bool) -> Result<Tree> {
        let mut edges = self.edges(None);
        let ends = edges.iter().flat_map(|edge| [edge.caller, edge.callee]);
        self.limit.check(ends.map(|node| self.nodes.name_bytes(node)).sum())?;
        let mut names: Vec<String> = vec![String::new(); self.nodes.len()];
        for edge in &edges {
            for node in [edge.caller, edge.callee] {
                if names[node as usize].is_empty() {
                    names[node as usize] = self.nodes.name(node);
                }
            }
        }
        let name = |node: u32| &names[node as usize];
        edges.sort_by(|a, b| {
            (b.weight.abs().cmp(&a.weight.abs()))
                .then_with(|| name(a.caller).cmp(name(b.caller)))
                .then_with(|| name(a.callee).cmp(name(b.callee)))
                .then_with(|| (a.caller, a.callee).cmp(&(b.caller, b.callee)))
        });
        // By node: its row.
        let mut places = vec![None; self.nodes.len()];
        let mut rows = Vec::new();
        for (node, name) in self.rows.into_iter().filter(|(_, name)| matches(name)) {
            places[node as usize] = Some(rows.len());
            let (flat, cum) = self.values.row(node);
            let row = Row { name, flat, cum, inline: Inline::No };
            rows.push(TreeRow { row, ..TreeRow::default() });
        }
        let mut inline = vec![(false, false); rows.len()];
        for Edge { caller, callee, weight, is_inline, .. } in edges {
            let call = |node| Call { name: name(node).clone(), weight, is_inline };
            if let Some(row) = places[caller as usize] {
                rows[row].callees.push(call(callee));
            }
            if let Some(row) = places[callee as usize] {
                rows[row].callers.push(call(caller));
                inline[row].0 |= is_inline;
                inline[row].1 |= !is_inline;
            }
        }
        for (one, (any_inline, any_other)) in rows.iter_mut().zip(inline) {
            one.row.inline = graph::inline(any_inline, any_other);
        }
        Ok(Tree { header: self.header, trimmed: self.trimmed, rows })
    }
}
