//! Bar charts as SVG.
use crate::error::Failure;
use plotters::prelude::*;
use selvedge_area::report::Curve;

/// The bars of one colour.
pub struct Series {
    /// What they stand for.
    pub name: String,
    /// One value per group; none where there is nothing to show.
    pub values: Vec<Option<f64>>,
}

/// Height of the chart, pixels.
const HEIGHT: u32 = 420;
/// Width of a bar with its share of the gaps, pixels.
const BAR: u32 = 22;

/// Groups of bars, a group per workload and a bar per mechanism, with a line at 1.
pub fn speedups(groups: &[String], series: &[Series]) -> Result<String, Failure> {
    let mut text = String::new();
    draw(&mut text, groups, series)
        .map_err(|error| Failure::simulation(format!("the chart cannot be drawn: {error}")))?;
    Ok(text)
}

fn draw(text: &mut String, groups: &[String], series: &[Series]) -> Result<(), Box<dyn std::error::Error>> {
    let slots = series.len() + 1;
    let width = 160 + BAR * (groups.len() * slots) as u32;
    let highest = series.iter().flat_map(|one| one.values.iter().flatten()).fold(1.0f64, |a, b| a.max(*b));
    let root = SVGBackend::with_string(text, (width.max(480), HEIGHT)).into_drawing_area();
    root.fill(&WHITE)?;
    let columns = groups.len() as f64;
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(50)
        .build_cartesian_2d(0.0..columns, 0.0..highest * 1.2)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .disable_x_axis()
        .y_desc("speedup over the first mechanism")
        .draw()?;
    let bar = 1.0 / slots as f64;
    for (at, one) in series.iter().enumerate() {
        let colour = Palette99::pick(at).to_rgba();
        let bars = one.values.iter().enumerate().filter_map(|(group, value)| {
            let left = group as f64 + (at as f64 + 0.5) * bar;
            value.map(|value| Rectangle::new([(left, 0.0), (left + 0.9 * bar, value)], colour.filled()))
        });
        chart
            .draw_series(bars)?
            .label(one.name.as_str())
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled()));
    }
    chart.draw_series([PathElement::new(vec![(0.0, 1.0), (columns, 1.0)], BLACK)])?;
    for (group, name) in groups.iter().enumerate() {
        let (x, y) = chart.backend_coord(&(group as f64 + 0.5, 0.0));
        let style = ("sans-serif", 13).into_text_style(&root).pos(plotters::style::text_anchor::Pos::new(
            plotters::style::text_anchor::HPos::Center,
            plotters::style::text_anchor::VPos::Top,
        ));
        root.draw_text(name, &style, (x, y + 8))?;
    }
    chart.configure_series_labels().border_style(BLACK).background_style(WHITE).draw()?;
    root.present()?;
    Ok(())
}

/// Size of each of a sweep's two charts, pixels.
const CHART: (u32, u32) = (480, 360);

/// Two charts beside each other over the same parameter: area in kGE, and the critical path in ns.
pub fn sweep(parameter: &str, areas: &[Curve], delays: &[Curve]) -> Result<String, Failure> {
    let mut text = String::new();
    draw_sweep(&mut text, parameter, areas, delays)
        .map_err(|error| Failure::simulation(format!("the chart cannot be drawn: {error}")))?;
    Ok(text)
}

fn draw_sweep(
    text: &mut String,
    parameter: &str,
    areas: &[Curve],
    delays: &[Curve],
) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(text, (2 * CHART.0, CHART.1)).into_drawing_area();
    root.fill(&WHITE)?;
    let (left, right) = root.split_horizontally(CHART.0);
    curves(&left, parameter, "area, kGE", areas)?;
    curves(&right, parameter, "critical path, ns", delays)?;
    root.present()?;
    Ok(())
}

/// Curves from zero up.
fn curves(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    x: &str,
    y: &str,
    all: &[Curve],
) -> Result<(), Box<dyn std::error::Error>> {
    let points = || all.iter().flat_map(|one| one.points.iter());
    let low = points().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let high = points().map(|point| point.0).fold(low + 1.0, f64::max);
    let top = points().map(|point| point.1).fold(0.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d(low..high, 0.0..(1.2 * top).max(1e-3))?;
    chart.configure_mesh().x_desc(x).y_desc(y).draw()?;
    for (at, one) in all.iter().enumerate() {
        let colour = Palette99::pick(at).to_rgba();
        chart
            .draw_series([PathElement::new(one.points.clone(), colour)])?
            .label(one.name.as_str())
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 12, y)], colour));
        chart.draw_series(one.points.iter().map(|point| Circle::new(*point, 3, colour.filled())))?;
    }
    chart.configure_series_labels().border_style(BLACK).background_style(WHITE).draw()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_has_two_charts_with_a_point_for_each_value() {
        let curve =
            |scale: f64| Curve { name: "milg".into(), points: vec![(5.0, scale), (6.0, 2.0 * scale)] };
        let text = sweep("inflight_bits", &[curve(0.5)], &[curve(3.0)]).expect("drawn");
        assert_eq!(text.matches("<circle").count(), 4);
        assert_eq!(text.matches("inflight_bits").count(), 2);
        assert!(text.contains("area, kGE") && text.contains("critical path, ns"));
    }

    #[test]
    fn a_chart_has_a_bar_for_each_value_and_the_names() {
        let series = [
            Series { name: "base".into(), values: vec![Some(1.0), Some(1.0)] },
            Series { name: "hw-bdi".into(), values: vec![Some(1.2), None] },
        ];
        let text = speedups(&["atax".into(), "bfs".into()], &series).expect("drawn");
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
        for name in ["atax", "bfs", "base", "hw-bdi"] {
            assert!(text.contains(name), "{name}");
        }
        // Three bars, two marks in the legend with its frame and background, and the white ground.
        assert_eq!(text.matches("<rect").count(), 3 + 2 + 2 + 1);
    }
}
