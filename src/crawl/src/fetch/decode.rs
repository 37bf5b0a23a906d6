//! Decodes content codings piece by piece, within a size and a ratio. The client does not decode, because only here the
//! bytes on the wire can be compared with what they become: 10 KiB of gzip can hold 10 MiB of zeros.

use std::io::{self, Write};

use flate2::write::{DeflateDecoder, GzDecoder, ZlibDecoder};

use crate::outcome::Failure;

/// What the client says it can take.
pub(super) const ACCEPT_ENCODING: &str = "gzip, br, zstd, deflate";

/// Below this size the ratio does not matter: a short page of one repeated character may well reach 1,000:1.
const RATIO_FLOOR_BYTES: u64 = 512 << 10;

/// Input is decoded in slices of this size, so that one slice of a bomb stays at most 4 MiB large.
const SLICE_BYTES: usize = 4 << 10;

/// RFC 8878 §3.1.1.1.2: decoders need not support windows over 8 MiB, so nobody honest sends them.
const ZSTD_WINDOW_LOG: u32 = 23;

/// Output buffer of the brotli decoder.
const BROTLI_BUFFER_BYTES: usize = 16 << 10;

/// Servers that pad a compressed body add a line break or a block of zeros. More is read by nobody, so the connection is
/// dropped there.
const MAX_BYTES_AFTER_END: u64 = 64 << 10;

/// What a coding may add to bytes that it cannot make smaller: at most five for each 16 KiB, in every one of the four. So a
/// body that is larger than its limit on the wire is one that says nothing: empty blocks, skippable frames, comments.
pub(super) const CODING_OVERHEAD_BYTES: u64 = 64 << 10;

/// How much of a body is taken, on the wire (but for the overhead of its coding) and decoded.
#[derive(Debug, Clone, Copy)]
pub(super) struct BodyLimits {
    pub(super) max_bytes: u64,
    pub(super) max_ratio: u64,
}

/// Decodes one body.
pub(super) struct Decoder {
    coding: Coding,
    ended: bool,
    /// Bytes off the wire after the end of the compressed stream.
    after_end: u64,
}

enum Coding {
    Identity(Meter),
    Gzip(Box<GzDecoder<Meter>>),
    /// Two formats go by the name of deflate; the first byte tells them apart.
    DeflateUnseen(Meter),
    Zlib(Box<ZlibDecoder<Meter>>),
    Deflate(Box<DeflateDecoder<Meter>>),
    Brotli(Box<brotli_decompressor::DecompressorWriter<Meter>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, Meter>>),
    /// Only while one variant is exchanged for another.
    Taken,
}

impl Decoder {
    /// A decoder for a `Content-Encoding`; none for a coding that was not asked for.
    pub(super) fn new(encoding: &str, limits: BodyLimits) -> Option<Self> {
        let meter = Meter::new(limits);
        let coding = match encoding.trim().to_ascii_lowercase().as_str() {
            "" | "identity" | "none" | "utf-8" => Coding::Identity(meter),
            "gzip" | "x-gzip" => Coding::Gzip(Box::new(GzDecoder::new(meter))),
            "deflate" => Coding::DeflateUnseen(meter),
            "br" => Coding::Brotli(Box::new(brotli_decompressor::DecompressorWriter::new(
                meter,
                BROTLI_BUFFER_BYTES,
            ))),
            "zstd" => {
                let mut decoder = zstd::stream::write::Decoder::new(meter).ok()?;
                decoder.window_log_max(ZSTD_WINDOW_LOG).ok()?;
                Coding::Zstd(Box::new(decoder))
            }
            _ => return None,
        };
        Some(Self {
            coding,
            ended: false,
            after_end: 0,
        })
    }

    /// Whether so many bytes came after the end of the compressed stream that the rest is not worth reading. The body is
    /// whole then.
    pub(super) fn is_past_end(&self) -> bool {
        self.after_end > MAX_BYTES_AFTER_END
    }

    /// Decodes bytes off the wire and hands what comes out to `deliver`; true goes on, false stops.
    pub(super) fn feed(
        &mut self,
        wire: &[u8],
        deliver: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<bool, Failure> {
        for slice in wire.chunks(SLICE_BYTES) {
            let meter = self.meter();
            meter.wire += slice.len() as u64;
            if meter.wire > meter.limits.max_bytes.saturating_add(CODING_OVERHEAD_BYTES) {
                return Err(Failure::TooLarge);
            }
            self.write(slice)?;
            if !self.meter().drain(deliver) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Ends the body: what is still inside comes out; an unfinished stream is an error.
    pub(super) fn finish(
        &mut self,
        deliver: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<bool, Failure> {
        if self.meter().wire > 0 && !self.ended {
            let result = match &mut self.coding {
                Coding::Identity(_) | Coding::DeflateUnseen(_) | Coding::Taken => Ok(()),
                Coding::Gzip(d) => d.try_finish(),
                Coding::Zlib(d) => at_end(d).and_then(|()| d.try_finish()),
                Coding::Deflate(d) => at_end(d).and_then(|()| d.try_finish()),
                Coding::Brotli(d) => d.close(),
                Coding::Zstd(d) => d.do_finish(),
            };
            result.map_err(|_| self.reason(Failure::Truncated))?;
        }
        Ok(self.meter().drain(deliver))
    }

    /// Bytes that came out so far.
    pub(super) fn decoded_bytes(&mut self) -> u64 {
        self.meter().decoded
    }

    fn write(&mut self, mut slice: &[u8]) -> Result<(), Failure> {
        if let (Coding::DeflateUnseen(_), Some(&first)) = (&self.coding, slice.first()) {
            self.choose_deflate(first);
        }
        // bytes after the end of the compressed stream are ignored, as browsers do
        while !slice.is_empty() && !self.ended {
            let written = match &mut self.coding {
                Coding::Identity(d) | Coding::DeflateUnseen(d) => d.write(slice),
                Coding::Gzip(d) => d.write(slice),
                Coding::Zlib(d) => d.write(slice),
                Coding::Deflate(d) => d.write(slice),
                Coding::Brotli(d) => d.write(slice),
                Coding::Zstd(d) => d.write(slice),
                Coding::Taken => Ok(0),
            };
            match written {
                Ok(0) => self.ended = true,
                Ok(n) => slice = slice.get(n..).unwrap_or_default(),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(self.reason(Failure::Decode)),
            }
        }
        self.after_end += slice.len() as u64;
        Ok(())
    }

    /// RFC 9110 says zlib, many servers send raw deflate. A zlib stream starts with compression method 8.
    fn choose_deflate(&mut self, first: u8) {
        let coding = std::mem::replace(&mut self.coding, Coding::Taken);
        self.coding = match coding {
            Coding::DeflateUnseen(meter) if first & 0x0F == 8 => {
                Coding::Zlib(Box::new(ZlibDecoder::new(meter)))
            }
            Coding::DeflateUnseen(meter) => Coding::Deflate(Box::new(DeflateDecoder::new(meter))),
            other => other,
        };
    }

    /// A decoder fails because the meter stopped it, or by itself.
    fn reason(&mut self, failure: Failure) -> Failure {
        self.meter().over.unwrap_or(failure)
    }

    fn meter(&mut self) -> &mut Meter {
        match &mut self.coding {
            Coding::Identity(meter) | Coding::DeflateUnseen(meter) => meter,
            Coding::Gzip(d) => d.get_mut(),
            Coding::Zlib(d) => d.get_mut(),
            Coding::Deflate(d) => d.get_mut(),
            Coding::Brotli(d) => d.get_mut(),
            Coding::Zstd(d) => d.get_mut(),
            Coding::Taken => unreachable!("only inside choose_deflate, which puts a coding back"),
        }
    }
}

/// These decoders finish without a word when the stream is cut, but take no byte after its real end. To be asked
/// before they finish: afterwards one that was cut would wait for ever.
fn at_end(decoder: &mut impl Write) -> io::Result<()> {
    match decoder.write(&[0])? {
        0 => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Takes what a decoder writes, and stops it at the limits.
struct Meter {
    out: Vec<u8>,
    wire: u64,
    decoded: u64,
    limits: BodyLimits,
    over: Option<Failure>,
}

impl Meter {
    fn new(limits: BodyLimits) -> Self {
        Self {
            out: Vec::new(),
            wire: 0,
            decoded: 0,
            limits,
            over: None,
        }
    }

    fn drain(&mut self, deliver: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        if self.out.is_empty() {
            return true;
        }
        let go_on = deliver(&self.out);
        self.out.clear();
        go_on
    }
}

impl Write for Meter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let decoded = self.decoded + bytes.len() as u64;
        let ratio_allows = self.wire.saturating_mul(self.limits.max_ratio);
        if decoded > RATIO_FLOOR_BYTES && decoded > ratio_allows {
            self.over = Some(Failure::Bomb);
        } else if decoded > self.limits.max_bytes {
            self.over = Some(Failure::TooLarge);
        }
        if self.over.is_some() {
            return Err(io::Error::other("body over its limit"));
        }
        self.decoded = decoded;
        self.out.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
