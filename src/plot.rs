//! Bar charts as SVG.
use crate::error::Failure;
use plotters::prelude::*;

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

#[cfg(test)]
mod tests {
    use super::*;

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
