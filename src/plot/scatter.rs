//! Points in two dimensions, with labels that do not overlap.
use super::scale::Scale;
use super::{Area, Drawn, FONT, LETTER, LINE, Legend, MARGIN, WIDTH, color, draw_whole};
use crate::error::Failure;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A point of a scatter chart.
#[derive(Clone, Debug)]
pub struct Point {
    /// Values on both axes.
    pub at: (f64, f64),
    /// Radius, pixels.
    pub radius: i32,
    /// Label next to the point, if it has one.
    pub label: Option<String>,
}

/// Points of one color.
pub struct Group {
    /// Name in the legend.
    pub name: String,
    /// The points.
    pub points: Vec<Point>,
}

/// A chart of points.
pub struct Scatter<'a> {
    /// Title above the chart.
    pub title: &'a str,
    /// Horizontal axis.
    pub x: Scale,
    /// Vertical axis.
    pub y: Scale,
    /// Height of the chart without title and legend, pixels.
    pub height: u32,
    /// Points, one group per color.
    pub groups: &'a [Group],
    /// Bands behind the points, each with its corners.
    pub bands: &'a [Vec<(f64, f64)>],
    /// Lines behind the points.
    pub lines: &'a [Vec<(f64, f64)>],
}

/// Size of labels at points and of values on the axes, pixels.
const SIZE: i32 = 14;
/// Height of a label, pixels.
const TEXT_HEIGHT: i32 = 14;
/// Distance of a label from its point, pixels.
const GAP: i32 = 4;
const GRAY: RGBColor = RGBColor(120, 120, 120);
const LIGHT: RGBColor = RGBColor(226, 226, 226);
const BAND: RGBColor = RGBColor(238, 244, 238);

/// A box in pixels: left, top, right, bottom.
type Box4 = [i32; 4];

/// Draws the points.
pub fn scatter(chart: &Scatter<'_>) -> Result<String, Failure> {
    let legend = Legend::new(chart.groups.iter().map(|one| one.name.as_str()), WIDTH - 2 * MARGIN);
    let height = 2 * MARGIN + LINE + legend.height() + chart.height;
    draw_whole((WIDTH, height), chart.title, &legend, |area| points(area, chart))
}

fn points(area: &Area<'_, '_>, chart: &Scatter<'_>) -> Drawn {
    let mut plot = ChartBuilder::on(area)
        .margin_top(6)
        .margin_right(24)
        .x_label_area_size(46)
        .y_label_area_size(LETTER * chart.y.longest() + 36)
        .build_cartesian_2d(chart.x.clone(), chart.y.clone())?;
    let corner = plot.plotting_area().get_base_pixel();
    let (width, height) = plot.plotting_area().dim_in_pixel();
    let inside = [corner.0, corner.1, corner.0 + width as i32, corner.1 + height as i32];
    plot.draw_series(chart.bands.iter().map(|band| Polygon::new(band.clone(), BAND.filled())))?;
    plot.configure_mesh()
        .bold_line_style(LIGHT)
        .light_line_style(TRANSPARENT)
        .label_style((FONT, SIZE))
        .axis_desc_style((FONT, 15))
        .x_desc(chart.x.title)
        .y_desc(chart.y.title)
        .draw()?;
    plot.draw_series(chart.lines.iter().map(|line| PathElement::new(line.clone(), GRAY)))?;
    let mut taken: Vec<Box4> = Vec::new();
    let mut labels: Vec<((i32, i32), i32, &str)> = Vec::new();
    for (at, group) in chart.groups.iter().enumerate() {
        for point in &group.points {
            let style = color(at).mix(0.7).filled();
            plot.draw_series([Circle::new(point.at, point.radius, style)])?;
            let (x, y) = plot.backend_coord(&point.at);
            let r = point.radius;
            taken.push([x - r, y - r, x + r, y + r]);
            labels.extend(point.label.as_deref().map(|label| ((x, y), r, label)));
        }
    }
    let base = area.get_base_pixel();
    for (at, radius, label) in labels {
        let Placed { text, target } = place(at, radius, label, inside, &taken);
        // The text may be narrower than its box.
        let (side, anchor) = match (at.0 > text[2], at.0 < text[0]) {
            (true, _) => (text[2], HPos::Right),
            (_, true) => (text[0], HPos::Left),
            _ => (i32::midpoint(text[0], text[2]), HPos::Center),
        };
        taken.push(text);
        if let Some(end) = target {
            let line = [at, end].map(|(x, y)| (x - base.0, y - base.1));
            area.draw(&PathElement::new(line.to_vec(), GRAY))?;
        }
        let style = (FONT, SIZE).into_text_style(area).pos(Pos::new(anchor, VPos::Top));
        area.draw_text(label, &style, (side - base.0, text[1] - base.1))?;
    }
    Ok(())
}

/// Position of a label.
struct Placed {
    /// Box of the text.
    text: Box4,
    /// End of a line from the point, for a label that is not next to it.
    target: Option<(i32, i32)>,
}

/// Returns the position with the least overlap of a label with the `taken` boxes, near its point. The first position without
/// overlap is chosen: right, left, above, below, then farther away.
fn place((x, y): (i32, i32), radius: i32, label: &str, inside: Box4, taken: &[Box4]) -> Placed {
    let (width, height) = (label.chars().count() as i32 * LETTER as i32, TEXT_HEIGHT);
    let mut best: Option<(i32, Placed)> = None;
    for step in 0..7 {
        let away = radius + GAP + step * 12;
        let slant = radius * 7 / 10 + GAP + step * 12;
        let corners = [
            (x + away, y - height / 2),
            (x - away - width, y - height / 2),
            (x - width / 2, y - away - height),
            (x - width / 2, y + away),
            (x + slant, y - slant - height),
            (x + slant, y + slant),
            (x - slant - width, y - slant - height),
            (x - slant - width, y + slant),
        ];
        for (left, top) in corners {
            let text = [left, top, left + width, top + height];
            let beyond = (inside[0] - text[0]).max(0)
                + (inside[1] - text[1]).max(0)
                + (text[2] - inside[2]).max(0)
                + (text[3] - inside[3]).max(0);
            let overlap: i32 = taken.iter().map(|other| common(&text, other)).sum();
            let cost = 1000 * beyond + overlap;
            let end = (x.clamp(text[0], text[2]), y.clamp(text[1], text[3]));
            let placed = Placed { text, target: (step > 0).then_some(end) };
            if cost == 0 {
                return placed;
            }
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, placed));
            }
        }
    }
    best.expect("there is a position").1
}

/// Returns the area that two boxes share.
fn common(a: &Box4, b: &Box4) -> i32 {
    let side = |first: usize, last: usize| (a[last].min(b[last]) - a[first].max(b[first])).max(0);
    side(0, 2) * side(1, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(to: f64) -> Scale {
        Scale {
            title: "t",
            from: 0.0,
            to,
            is_log: false,
            labels: vec![(0.0, "0".into()), (to, "end".into())],
        }
    }

    #[test]
    fn a_label_is_next_to_its_point_and_clear_of_others() {
        let inside = [0, 0, 400, 400];
        let first = place((200, 200), 4, "label", inside, &[]);
        assert_eq!((first.text[0], first.target), (208, None));
        let second = place((200, 200), 4, "label", inside, &[first.text]);
        assert_eq!((common(&first.text, &second.text), second.target), (0, None));
        let border = place((395, 200), 4, "label", inside, &[]);
        assert!(border.text[2] <= 400, "{:?}", border.text);
        let everything_near = [190, 180, 250, 220];
        let far = place((200, 200), 4, "label", inside, &[everything_near, [120, 180, 190, 220]]);
        assert_eq!(common(&far.text, &everything_near), 0);
    }

    #[test]
    fn a_chart_has_every_point_and_label() {
        let point =
            |x: f64, label: Option<&str>| Point { at: (x, x), radius: 4, label: label.map(str::to_owned) };
        let groups = [
            Group { name: "one".into(), points: vec![point(1.0, Some("first")), point(1.0, Some("second"))] },
            Group { name: "two".into(), points: vec![point(5.0, None)] },
        ];
        let chart = Scatter {
            title: "T",
            x: scale(10.0),
            y: scale(10.0),
            height: 300,
            groups: &groups,
            bands: &[],
            lines: &[vec![(0.0, 0.0), (10.0, 10.0)]],
        };
        let text = scatter(&chart).expect("drawn");
        assert_eq!(text.matches("<circle").count(), 3);
        assert!(
            ["first", "second", "one", "two", "end", "T"].iter().all(|name| text.contains(name)),
            "{text}"
        );
    }
}
