//! Decodes JPEG and PNG files to a [`Picture`], and writes pictures as PNG.

use std::io::{BufWriter, Cursor};
use std::path::Path;

use png::{BitDepth, ColorType, Transformations};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::Picture;
use crate::store::{files, panics};

/// Most pixels of an image; larger ones are refused before they are decoded. The images of both sets have less than a
/// million.
const MAX_PIXELS: usize = 1 << 22;
/// Most memory that the PNG decoder may take for itself and its rows.
const MAX_BYTES: usize = 64 << 20;

impl Picture {
    /// Decodes a JPEG or PNG file held in memory; its content decides which it is.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        let decoded = panics::catch(|| match bytes {
            [0xff, 0xd8, 0xff, ..] => jpeg(bytes),
            [0x89, b'P', b'N', b'G', ..] => png(bytes),
            _ => Err("is neither JPEG nor PNG".into()),
        });
        decoded.unwrap_or_else(|panic| Err(wrong(format!("its decoder panicked: {panic}"))))
    }

    pub(in crate::dataset) fn can_have(width: usize, height: usize) -> bool {
        width > 0 && height > 0 && width.saturating_mul(height) <= MAX_PIXELS
    }

    pub fn save_png(&self, path: &Path) -> crate::Result<()> {
        let bytes: Vec<u8> = self.rgb.iter().flatten().copied().collect();
        files::write_atomically(path, |file| {
            let mut encoder = png::Encoder::new(BufWriter::new(file), self.width as u32, self.height as u32);
            encoder.set_color(ColorType::Rgb);
            encoder.set_depth(BitDepth::Eight);
            let mut writer = encoder.write_header().map_err(std::io::Error::other)?;
            writer.write_image_data(&bytes).and_then(|()| writer.finish()).map_err(std::io::Error::other)
        })
    }
}

fn wrong(error: impl std::fmt::Display) -> String {
    format!("cannot be decoded as an image: {error}")
}

fn size(width: usize, height: usize) -> Result<(), String> {
    if !Picture::can_have(width, height) {
        return Err(format!("has {width} × {height} pixels; 1 to {MAX_PIXELS} are supported"));
    }
    Ok(())
}

fn jpeg(bytes: &[u8]) -> Result<Picture, String> {
    let options = DecoderOptions::default().set_strict_mode(false);
    let options = options.set_max_width(usize::MAX).set_max_height(usize::MAX);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(wrong)?;
    let (width, height) = decoder.dimensions().ok_or_else(|| wrong("it has no size"))?;
    size(width, height)?;
    let grey = matches!(decoder.input_colorspace(), Some(ColorSpace::Luma | ColorSpace::LumaA));
    let space = if grey { ColorSpace::Luma } else { ColorSpace::RGB };
    decoder.set_options(options.jpeg_set_out_colorspace(space));
    let samples = decoder.decode().map_err(wrong)?;
    Picture::of_samples(width, height, if grey { 1 } else { 3 }, &samples)
}

fn png(bytes: &[u8]) -> Result<Picture, String> {
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), png::Limits { bytes: MAX_BYTES });
    // Palettes become colours and small depths eight bits; sixteen bits are rounded below, not truncated.
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(wrong)?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    size(width, height)?;
    let mut samples = vec![0; reader.output_buffer_size()];
    let frame = reader.next_frame(&mut samples).map_err(wrong)?;
    samples.truncate(frame.buffer_size());
    if frame.bit_depth == BitDepth::Sixteen {
        let round = |two: &[u8]| ((u32::from(u16::from_be_bytes([two[0], two[1]])) + 128) / 257) as u8;
        samples = samples.chunks_exact(2).map(round).collect();
    }
    Picture::of_samples(width, height, frame.color_type.samples(), &samples)
}

impl Picture {
    /// From rows of grey, grey and alpha, RGB or RGBA; alpha is left out.
    fn of_samples(width: usize, height: usize, channels: usize, samples: &[u8]) -> Result<Self, String> {
        if samples.len() != width * height * channels {
            return Err(wrong("it ends too early"));
        }
        let pixels = samples.chunks_exact(channels);
        let rgb = if channels < 3 {
            pixels.map(|pixel| [pixel[0]; 3]).collect()
        } else {
            pixels.map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
        };
        Ok(Self { width, height, rgb })
    }
}
