//! Charts as SVG: speedups as bars, sweeps of a parameter as curves, and comparisons as points.
mod scale;
mod scatter;

pub use scale::Scale;
pub use scatter::{Group, Point, Scatter, scatter};

use crate::error::Failure;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use selvedge_area::report::Curve;
use std::error::Error;
use std::ops::Range;

/// Bars of one color.
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// One value per group, or `None` for a missing bar.
    pub values: Vec<Option<f64>>,
}

/// A chart of bars in groups.
pub struct Bars<'a> {
    /// Title above the chart.
    pub title: &'a str,
    /// Label of the value axis.
    pub axis: &'a str,
    /// A name for each group.
    pub groups: &'a [String],
    /// Bars, one series per color.
    pub series: &'a [Series],
    /// Values that a paper states, each with the indices of its group and series. They are drawn as diamonds.
    pub stated: &'a [(usize, usize, f64)],
}

/// Drawing area of a chart.
type Area<'a, 'b> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn Error>>;

/// Width of every chart in pixels, as wide as a page.
const WIDTH: u32 = 960;
/// Height of the title, and of a line of the legend, pixels.
const LINE: u32 = 22;
/// Height of a row of bars without its labels, pixels.
const ROW: u32 = 250;
/// Space for the value labels left of a row, pixels.
const LEFT: u32 = 56;
/// Margin around the chart, pixels.
const MARGIN: u32 = 12;
/// Min and max width of a bar, pixels. If bars would be narrower, the groups continue in another row.
const BAR: [u32; 2] = [7, 40];
/// Mean width of a letter in labels, pixels.
const LETTER: u32 = 7;
const FONT: &str = "sans-serif";

/// Okabe and Ito's palette, which readers with any color vision can distinguish, and three colors of Tol's.
const PALETTE: [RGBColor; 10] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(213, 94, 0),
    RGBColor(240, 228, 66),
    RGBColor(153, 153, 153),
    RGBColor(136, 34, 85),
    RGBColor(68, 170, 153),
];

fn color(at: usize) -> RGBColor {
    PALETTE[at % PALETTE.len()]
}

/// Draws groups of bars, with a line at 1.
pub fn bars(chart: &Bars<'_>) -> Result<String, Failure> {
    let legend = Legend::new(chart.series.iter().map(|one| one.name.as_str()), WIDTH - 2 * MARGIN);
    let rows = Rows::of(chart);
    let height = 2 * MARGIN + LINE + legend.height() + rows.count() as u32 * rows.height();
    draw_whole((WIDTH, height), chart.title, &legend, |area| {
        let areas = area.split_evenly((rows.count(), 1));
        areas
            .iter()
            .zip(rows.groups(chart.groups.len()))
            .try_for_each(|(area, some)| row(area, chart, &rows, some))
    })
}

fn failed(error: Box<dyn Error>) -> Failure {
    Failure::simulation(format!("the chart cannot be drawn: {error}"))
}

/// Draws title and legend, and calls `rest` to draw below them. Returns the chart as SVG.
fn draw_whole(
    size: (u32, u32),
    title: &str,
    legend: &Legend,
    rest: impl FnOnce(&Area<'_, '_>) -> Drawn,
) -> Result<String, Failure> {
    let mut text = String::new();
    draw_into(&mut text, size, title, legend, rest).map_err(failed)?;
    // A name may contain characters that XML cannot represent.
    Ok(text.chars().map(|c| if is_xml(c) { c } else { char::REPLACEMENT_CHARACTER }).collect())
}

fn draw_into(
    text: &mut String,
    size: (u32, u32),
    title: &str,
    legend: &Legend,
    rest: impl FnOnce(&Area<'_, '_>) -> Drawn,
) -> Drawn {
    let root = SVGBackend::with_string(text, size).into_drawing_area();
    root.fill(&WHITE)?;
    let inner = root.margin(MARGIN, MARGIN, MARGIN, MARGIN);
    let (top, below) = inner.split_vertically(LINE);
    top.draw_text(title, &(FONT, 16).into_text_style(&top), (0, 0))?;
    let (marks, below) = below.split_vertically(legend.height());
    legend.draw(&marks)?;
    rest(&below)?;
    root.present()?;
    Ok(())
}

/// Returns whether XML allows a character, literally or as a reference.
pub fn is_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// Names of the series with their colors, on several lines if needed.
struct Legend<'a> {
    /// Names with the positions of their marks.
    entries: Vec<(&'a str, (u32, u32))>,
    lines: u32,
}

impl<'a> Legend<'a> {
    fn new(names: impl Iterator<Item = &'a str>, width: u32) -> Self {
        let (mut x, mut line) = (0, 0);
        let mut entries = Vec::new();
        for name in names {
            let needed = 34 + LETTER * name.chars().count() as u32;
            if x > 0 && x + needed > width {
                (x, line) = (0, line + 1);
            }
            entries.push((name, (x, line * LINE)));
            x += needed;
        }
        Legend { entries, lines: line + 1 }
    }

    fn height(&self) -> u32 {
        self.lines * LINE + 6
    }

    fn draw(&self, area: &Area<'_, '_>) -> Drawn {
        for (at, (name, (x, y))) in self.entries.iter().enumerate() {
            let (x, y) = (*x as i32, *y as i32);
            area.draw(&Rectangle::new([(x, y + 4), (x + 12, y + 16)], color(at).filled()))?;
            area.draw_text(name, &(FONT, 13).into_text_style(area), (x + 18, y + 4))?;
        }
        Ok(())
    }
}

/// Distribution of the groups over rows.
struct Rows {
    /// Groups per row.
    each: usize,
    count: usize,
    /// Width of a bar, pixels.
    bar: u32,
    /// Max value on the axis.
    top: f64,
    /// Height of the labels below a row in pixels. `upright` is `true` if they are vertical.
    labels: u32,
    upright: bool,
}

impl Rows {
    fn of(chart: &Bars<'_>) -> Self {
        let (groups, slots) = (chart.groups.len().max(1), chart.series.len() as u32 + 1);
        let room = WIDTH - 2 * MARGIN - LEFT;
        let most = (room / (BAR[0] * slots)).max(1) as usize;
        let count = groups.div_ceil(most);
        let each = groups.div_ceil(count);
        let bar = (room / (each as u32 * slots)).clamp(BAR[0].min(room / slots).max(1), BAR[1]);
        let longest = chart.groups.iter().map(|name| name.chars().count()).max().unwrap_or(0) as u32;
        let upright = LETTER * longest + 4 > bar * slots;
        let stated = chart.stated.iter().map(|(_, _, value)| value);
        let values = chart.series.iter().flat_map(|one| one.values.iter().flatten()).chain(stated);
        Rows {
            each,
            count,
            bar,
            top: 1.1 * values.fold(1.0f64, |a, b| a.max(*b)),
            labels: if upright { LETTER * longest + 14 } else { 26 },
            upright,
        }
    }

    fn count(&self) -> usize {
        self.count
    }

    fn height(&self) -> u32 {
        ROW + self.labels
    }

    /// Returns the groups of each row.
    fn groups(&self, all: usize) -> impl Iterator<Item = Range<usize>> {
        let each = self.each;
        (0..self.count).map(move |row| row * each..((row + 1) * each).min(all))
    }
}

/// Draws a row of groups.
fn row(area: &Area<'_, '_>, chart: &Bars<'_>, rows: &Rows, groups: Range<usize>) -> Drawn {
    let slots = chart.series.len() as u32 + 1;
    let columns = groups.len() as f64;
    let width = LEFT + groups.len() as u32 * slots * rows.bar;
    let (area, _) = area.split_horizontally(width);
    let mut plot = ChartBuilder::on(&area)
        .margin_top(6)
        .x_label_area_size(rows.labels)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(0.0..columns, 0.0..rows.top)?;
    plot.configure_mesh()
        .disable_x_mesh()
        .disable_x_axis()
        .y_labels(7)
        .light_line_style(TRANSPARENT)
        .label_style((FONT, 12))
        .axis_desc_style((FONT, 13))
        .y_desc(chart.axis)
        .draw()?;
    let bar = 1.0 / f64::from(slots);
    for (at, one) in chart.series.iter().enumerate() {
        let bars = one.values[groups.clone()].iter().enumerate().filter_map(|(group, value)| {
            let left = group as f64 + (at as f64 + 0.5) * bar;
            value.map(|value| Rectangle::new([(left, 0.0), (left + 0.92 * bar, value)], color(at).filled()))
        });
        plot.draw_series(bars)?;
    }
    plot.draw_series([PathElement::new(vec![(0.0, 1.0), (columns, 1.0)], BLACK)])?;
    let shown = chart.stated.iter().filter(|(group, _, _)| groups.contains(group));
    plot.draw_series(shown.map(|(group, at, value)| {
        let middle = (group - groups.start) as f64 + (*at as f64 + 0.96) * bar;
        let diamond = vec![(0, -5), (5, 0), (0, 5), (-5, 0)];
        EmptyElement::at((middle, *value)) + Polygon::new(diamond, BLACK.filled())
    }))?;
    for (group, name) in chart.groups[groups].iter().enumerate() {
        let (x, y) = plot.backend_coord(&(group as f64 + 0.5, 0.0));
        let (x, y) = (x - area.get_base_pixel().0, y - area.get_base_pixel().1);
        let style = (FONT, 13).into_text_style(&area);
        if rows.upright {
            let style = style.transform(FontTransform::Rotate270).pos(Pos::new(HPos::Right, VPos::Center));
            area.draw_text(name, &style, (x, y + 6))?;
        } else {
            area.draw_text(name, &style.pos(Pos::new(HPos::Center, VPos::Top)), (x, y + 8))?;
        }
    }
    Ok(())
}

/// Height of a sweep's two charts, pixels.
const SWEEP: u32 = 330;
/// Max labels of a swept parameter.
const MOST_LABELS: usize = 8;

/// Draws two charts side by side over the same parameter: area in kGE, and critical path in ns.
pub fn sweep(parameter: &str, areas: &[Curve], delays: &[Curve]) -> Result<String, Failure> {
    let legend = Legend::new(areas.iter().map(|one| one.name.as_str()), WIDTH - 2 * MARGIN);
    let height = 2 * MARGIN + LINE + legend.height() + SWEEP;
    let title = format!("Area and critical path over {parameter}");
    draw_whole((WIDTH, height), &title, &legend, |area| {
        let halves = area.split_evenly((1, 2));
        curves(&halves[0], parameter, "area, kGE", areas)?;
        curves(&halves[1], parameter, "critical path, ns", delays)
    })
}

/// Axis of a swept parameter, with labels only at swept values.
struct Swept {
    from: f64,
    to: f64,
    labels: Vec<f64>,
}

impl Ranged for Swept {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (left, right): (i32, i32)) -> i32 {
        left + (f64::from(right - left) * (value - self.from) / (self.to - self.from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.labels.clone()
    }

    fn range(&self) -> Range<f64> {
        self.from..self.to
    }
}

impl ValueFormatter<f64> for Swept {
    fn format(value: &f64) -> String {
        value.to_string()
    }
}

/// Draws curves above zero, with labels at swept values.
fn curves(area: &Area<'_, '_>, x: &str, y: &str, all: &[Curve]) -> Drawn {
    let points = || all.iter().flat_map(|one| one.points.iter());
    let low = points().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let high = points().map(|point| point.0).fold(low + 1.0, f64::max);
    let top = points().map(|point| point.1).fold(0.0, f64::max);
    let across = Swept { from: low, to: high, labels: labelled(points().map(|point| point.0).collect()) };
    let mut chart = ChartBuilder::on(area)
        .margin_right(20)
        .x_label_area_size(44)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(across, 0.0..(1.2 * top).max(1e-3))?;
    chart
        .configure_mesh()
        .x_labels(MOST_LABELS)
        .light_line_style(TRANSPARENT)
        .label_style((FONT, 12))
        .axis_desc_style((FONT, 13))
        .x_desc(x)
        .y_desc(y)
        .draw()?;
    for (at, one) in all.iter().enumerate() {
        chart.draw_series([PathElement::new(one.points.clone(), color(at).stroke_width(2))])?;
        chart.draw_series(one.points.iter().map(|point| Circle::new(*point, 3, color(at).filled())))?;
    }
    Ok(())
}

/// Returns the swept values with labels: all, or every n-th if there are more than [`MOST_LABELS`].
fn labelled(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values.dedup();
    let every = values.len().div_ceil(MOST_LABELS).max(1);
    values.into_iter().step_by(every).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(workloads: usize, mechanisms: usize) -> String {
        let groups: Vec<String> = (0..workloads).map(|at| format!("workload{at}")).collect();
        let series: Vec<Series> = (0..mechanisms)
            .map(|at| Series { name: format!("mechanism{at}"), values: vec![Some(1.25); workloads] })
            .collect();
        bars(&Bars {
            title: "Speedup of all",
            axis: "speedup",
            groups: &groups,
            series: &series,
            stated: &[],
        })
        .expect("drawn")
    }

    /// Returns the numbers of an attribute in the text.
    fn numbers(text: &str, attribute: &str) -> Vec<f64> {
        let before = format!(" {attribute}=\"");
        let parts = text.split(&before).skip(1);
        parts.filter_map(|rest| rest.split('"').next()?.parse().ok()).collect()
    }

    #[test]
    fn a_sweep_has_two_charts_with_a_point_for_each_value_and_whole_labels() {
        let curve =
            |scale: f64| Curve { name: "milg".into(), points: vec![(5.0, scale), (6.0, 2.0 * scale)] };
        let text = sweep("inflight_bits", &[curve(0.5)], &[curve(3.0)]).expect("drawn");
        assert_eq!(text.matches("<circle").count(), 4);
        assert_eq!(text.matches("inflight_bits").count(), 3, "in the title and below both charts");
        assert!(text.contains("area, kGE") && text.contains("critical path, ns"));
        assert!(!text.contains("5.2") && !text.contains("5.5"), "no value that was not swept is labelled");
        let labels = text.lines().filter(|line| ["5", "6"].contains(&line.trim())).count();
        assert_eq!(labels, 4, "{text}");
    }

    #[test]
    fn names_with_any_characters_leave_well_formed_xml() {
        let nasty: String = (0..0x300).chain(0xfff0..0x10010).filter_map(char::from_u32).collect();
        let series = [Series { name: format!("a{nasty}"), values: vec![Some(1.5)] }];
        let groups = [format!("b{nasty}")];
        let title = format!("c{nasty}");
        let chart = Bars { title: &title, axis: "speedup", groups: &groups, series: &series, stated: &[] };
        let curves = &[Curve { name: nasty.clone(), points: vec![(1.0, 1.0), (2.0, 2.0)] }];
        for text in [bars(&chart).expect("drawn"), sweep(&nasty, curves, curves).expect("drawn")] {
            assert!(text.chars().all(is_xml), "{text:?}");
            let texts =
                text.split("<text").skip(1).filter_map(|rest| rest.split_once('>')?.1.split_once("</text>"));
            for (inner, _) in texts {
                assert!(!inner.contains('<'), "{inner:?}");
                for reference in inner.split('&').skip(1) {
                    let is_known = ["amp;", "lt;", "gt;", "quot;", "apos;", "#"]
                        .iter()
                        .any(|name| reference.starts_with(name));
                    assert!(is_known, "{reference:?}");
                }
            }
        }
    }

    #[test]
    fn many_values_have_some_labels() {
        assert_eq!(labelled(vec![3.0, 1.0, 2.0, 2.0]), [1.0, 2.0, 3.0]);
        assert_eq!(labelled((0..20).map(f64::from).collect()), [0.0, 3.0, 6.0, 9.0, 12.0, 15.0, 18.0]);
    }

    #[test]
    fn a_chart_has_a_bar_for_each_value_and_the_names() {
        let series = [
            Series { name: "base".into(), values: vec![Some(1.0), Some(1.0)] },
            Series { name: "hw-bdi".into(), values: vec![Some(1.2), None] },
        ];
        let groups = ["atax".into(), "bfs".into()];
        let (title, axis) = ("Speedup", "speedup over base");
        let stated = [(1, 1, 1.4)];
        let text =
            bars(&Bars { title, axis, groups: &groups, series: &series, stated: &stated }).expect("drawn");
        assert_eq!(text.matches("<polygon").count(), 1, "the paper's value");
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
        for name in ["atax", "bfs", "base", "hw-bdi", "Speedup", "speedup over base"] {
            assert!(text.contains(name), "{name}");
        }
        // Three bars, two marks in the legend, and the white background.
        assert_eq!(text.matches("<rect").count(), 3 + 2 + 1);
    }

    #[test]
    fn a_chart_is_as_wide_as_a_page_and_all_bars_are_on_it() {
        for (workloads, mechanisms) in [(1, 1), (3, 2), (8, 5), (40, 6), (200, 12), (3, 300)] {
            let text = drawn(workloads, mechanisms);
            assert_eq!(numbers(&text, "width")[0], f64::from(WIDTH), "{workloads} x {mechanisms}");
            let height = numbers(&text, "height")[0];
            assert_eq!(text.matches("<rect").count(), workloads * mechanisms + mechanisms + 1);
            let beyond =
                |attribute, size: f64| numbers(&text, attribute).into_iter().any(|at| at < 0.0 || at > size);
            assert!(!beyond("x", f64::from(WIDTH)) && !beyond("y", height), "{workloads} x {mechanisms}");
        }
    }

    #[test]
    fn the_legend_is_above_the_bars() {
        let text = drawn(40, 6);
        let tops: Vec<f64> = text
            .lines()
            .filter(|line| line.starts_with("<rect"))
            .filter_map(|line| numbers(line, "y").first().copied())
            .collect();
        // The background, the legend's marks, the bars.
        let (marks, bars) = tops[1..].split_at(6);
        let lowest_mark = marks.iter().copied().fold(0.0, f64::max) + 12.0;
        assert!(bars.iter().all(|top| *top > lowest_mark), "{tops:?}");
    }
}
